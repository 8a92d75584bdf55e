package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	"wirebench/server/cluster"
)

type clusterOutput struct{ Body cluster.Nodes }

// readCluster returns the nodes of the cluster.
func (s *API) readCluster(context.Context, *struct{}) (*clusterOutput, error) {
	if s.Cluster == nil {
		return nil, huma.Error409Conflict("this server is not a node of a cluster (--cluster)")
	}
	return &clusterOutput{s.Cluster.Nodes()}, nil
}
