//! One axum router, three services, told apart by the host name.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt;
use object_put::ObjectPut;
use tabs_api::http::TabsApi;
use tabs_api::seed::Seed;
use tower_service::Service;
use triptych_core::blobs::MemoryBlobs;
use triptych_core::id::SeededIds;
use triptych_core::kv::Memory;
use video_api::http::VideoApi;

fn blobs() -> Arc<MemoryBlobs> {
    Arc::new(MemoryBlobs::new(SeededIds::from_number(1)))
}

async fn ask(
    router: &mut Router,
    method: &str,
    uri: &str,
    token: Option<&str>,
) -> (StatusCode, String) {
    let mut request = Request::builder().method(method).uri(uri).header("host", "localhost");
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let request = request.body(Body::from("[{}]")).unwrap();
    let response = router.call(request).await.unwrap();
    let status = response.status();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8_lossy(&bytes).into_owned())
}

#[tokio::test]
async fn all_three_services_mount_in_one_router() {
    let seed = Seed::parse(r#"{"extensions": [{"token": "t", "manifest": {"name": "Embedded"}}]}"#)
        .unwrap();
    let tabs = TabsApi::builder().seed(seed).build().unwrap();
    let video = VideoApi::builder(Arc::new(Memory::new()), blobs()).build();
    let object = ObjectPut::builder(Arc::new(Memory::new()), blobs()).build();
    let mut router = Router::new()
        .route_service("/v1/{*path}", tabs)
        .route_service("/youtube/{*path}", video)
        .fallback_service(object);
    let (status, text) = ask(&mut router, "POST", "/v1/tabs/query", Some("t")).await;
    assert_eq!(status, StatusCode::OK, "{text}");
    assert!(text.contains("\"windowId\""), "{text}");
    let (status, text) = ask(&mut router, "GET", "/youtube/v3/videos?part=id&id=x", None).await;
    assert!(status.is_client_error(), "{status}");
    assert!(text.contains("\"error\""), "{text}");
    let (status, text) = ask(&mut router, "GET", "/bucket/key", None).await;
    assert!(status.is_client_error(), "{status}");
    assert!(text.contains("<Error>"), "{text}");
}

#[test]
fn a_domain_answers_without_its_server() {
    use tabs_api::browser::{Answer, Browser, Compat};
    use tabs_api::extension::manifest::Manifest;
    use tabs_api::extension::permission::Extension;
    use tabs_api::operation::{Caller, Command, Context, Style};
    let now = triptych_core::time::Timestamp::from_seconds(1);
    let mut browser = Browser::with_blank_window(now, Compat::Spec);
    browser.install(Extension::new("a".repeat(32), &Manifest::default(), false));
    let caller = Caller { extension: "a".repeat(32), context: Context::Worker };
    let command = Command::read("windows.getAll", &[], Style::Promise).unwrap();
    let Ok(Answer::Windows(windows)) = browser.apply(now, &caller, &command) else {
        panic!("the browser answers");
    };
    assert_eq!(windows.len(), 1);
}
