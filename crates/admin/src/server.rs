//! The admin listener's shell.

use std::io;

use axum::Router;
use axum::http::header::CONNECTION;
use axum::http::{HeaderValue, Response};
use axum::middleware::map_response;
use tokio::net::TcpListener;

use crate::bounded::{Bounded, Bounds};

/// Serves `router` on `listener` until `stop` completes; requests under way are answered.
///
/// # Errors
/// Those of accepting connections that are not worth retrying.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    serve_within(Bounds::default(), listener, router, stop).await
}

/// As [`serve`], with other bounds than the product's.
///
/// # Errors
/// As [`serve`].
pub async fn serve_within(
    bounds: Bounds,
    listener: TcpListener,
    router: Router,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    // A connection that is kept would be cut while its next request is on its way.
    let router = router.layer(map_response(closing));
    axum::serve(Bounded::new(listener, bounds), router)
        .with_graceful_shutdown(stop)
        .await
}

async fn closing<B>(mut response: Response<B>) -> Response<B> {
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(CONNECTION, close);
    response
}
