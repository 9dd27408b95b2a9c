//! Paths and what they answer.

use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;

use crate::{Status, StatusSource};

type Source = Arc<dyn StatusSource>;

/// The routes of the admin listener.
pub fn router(source: Arc<dyn StatusSource>) -> Router {
    Router::new()
        .route("/health/live", get(live))
        .route("/health/ready", get(ready))
        .route("/api/v1/status", get(status))
        .with_state(source)
}

async fn live() -> &'static str {
    "live\n"
}

async fn ready(State(source): State<Source>) -> (StatusCode, String) {
    match source.ready() {
        Ok(()) => (StatusCode::OK, "ready\n".into()),
        Err(reason) => (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n")),
    }
}

/// Status is told whether or not the node is ready: that is when people look.
async fn status(State(source): State<Source>) -> Json<Status> {
    let mut status = source.status();
    status.not_ready_reason = source.ready().err();
    status.ready = status.not_ready_reason.is_none();
    Json(status)
}
