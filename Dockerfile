# The page's JavaScript and CSS are committed in static/, so Go is all that a build needs.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod \
    go mod download
COPY . .
ARG TARGETOS TARGETARCH VERSION
RUN --mount=type=cache,target=/go/pkg/mod \
    --mount=type=cache,target=/root/.cache/go-build \
    CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
    go build -trimpath -ldflags "-s -w -X main.released=$VERSION" -o /out/wirebench ./cmd/wirebench
# An empty image has no directories: /data for what is kept, /tmp for large uploads on their way.
RUN mkdir -p /tree/data /tree/tmp && chmod 1777 /tree/tmp

FROM scratch
ARG VERSION
LABEL org.opencontainers.image.title="Wirebench" \
      org.opencontainers.image.description="A workbench for the binary protocols of games, in the browser" \
      org.opencontainers.image.version="$VERSION"
# For OpenID providers: an empty image knows no certificate authorities.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build --chown=65532:65532 /tree/ /
COPY --from=build /out/wirebench /wirebench
USER 65532:65532
ENV WIREBENCH_LISTEN=0.0.0.0:8080 \
    WIREBENCH_DATA=/data \
    WIREBENCH_LISTENER_PORTS=17800-17809
VOLUME /data
EXPOSE 8080 17800-17809/tcp 17800-17809/udp
# There is no shell in the image: the program asks its own /healthz.
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s --retries=3 CMD ["/wirebench", "health"]
ENTRYPOINT ["/wirebench"]
