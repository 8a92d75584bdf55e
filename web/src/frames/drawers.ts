// The drawers, loaded when the first one is opened.

import { DiffDrawer } from "./diff";
import type { DrawerTable } from "./drawer";
import { TableDrawer } from "./fieldtable";
import { FlowDrawer } from "./flow";
import { FollowDrawer } from "./follow";
import { GraphDrawer } from "./graph";
import { MarkersDrawer } from "./markers";
import { ProblemsDrawer } from "./problems";
import { TimelineDrawer } from "./timeline";
import { ConnectionsViews, TypesViews } from "./views";

export const drawers: DrawerTable = {
  types: TypesViews, problems: ProblemsDrawer, timeline: TimelineDrawer, graph: GraphDrawer, conns: ConnectionsViews, follow: FollowDrawer,
  flow: FlowDrawer, table: TableDrawer, diff: DiffDrawer, markers: MarkersDrawer,
};
