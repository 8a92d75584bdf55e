# The page's JavaScript and CSS are committed in static/, so Go is all that a build needs.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod \
    go mod download
COPY . .
ARG TARGETOS TARGETARCH VERSION=""
# Without VERSION the version is the commit of the folder. The defaults of the image are in the program, not in the environment, which is
# that of the people.
RUN --mount=type=cache,target=/go/pkg/mod \
    --mount=type=cache,target=/root/.cache/go-build \
    head=$(cat .git/HEAD 2>/dev/null || true); ref=${head#ref: }; commit=$ref; \
    case $head in "ref: "*) \
      commit=$(cat ".git/$ref" 2>/dev/null || true); \
      if [ -z "$commit" ] && [ -f .git/packed-refs ]; then \
        while read -r hash name; do [ "$name" != "$ref" ] || commit=$hash; done <.git/packed-refs; \
      fi ;; \
    esac; \
    version=${VERSION:-${commit:+source-$(printf %.12s "$commit")}}; \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -buildvcs=false -o /out/wirebench -ldflags "-s -w -X main.released=$version \
      -X main.defaultListen=0.0.0.0:8080 -X main.defaultData=/data -X main.defaultPorts=17800-17809" ./cmd/wirebench
# An empty image has no directories: /data for what is kept, /tmp for large uploads on their way.
RUN mkdir -p /tree/data /tree/tmp && chmod 1777 /tree/tmp

FROM scratch
ARG VERSION=""
LABEL org.opencontainers.image.title="Wirebench" \
      org.opencontainers.image.description="A workbench for the binary protocols of games, in the browser" \
      org.opencontainers.image.version="${VERSION:-built from source}"
# For OpenID providers: an empty image knows no certificate authorities.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build --chown=65532:65532 /tree/ /
COPY --from=build /out/wirebench /wirebench
USER 65532:65532
VOLUME /data
EXPOSE 8080 17800-17809/tcp 17800-17809/udp
# There is no shell in the image: the program asks its own /healthz.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 CMD ["/wirebench", "health"]
ENTRYPOINT ["/wirebench"]
