//! The admin listener's shell.

use std::io;

use axum::Router;
use tokio::net::TcpListener;

/// Serves `router` on `listener` until `stop` completes; requests under way are answered.
///
/// # Errors
/// Those of accepting connections that are not worth retrying.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    axum::serve(listener, router)
        .with_graceful_shutdown(stop)
        .await
}
