//! The table of operations against the service model of stock clients, and requests that write with a parameter that nobody knows.

mod service;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use service::{Draft, NOW, World};
use triptych_core::host::Operation;

/// The operations of the model.
const MODEL: &str = include_str!("service-model.txt");

#[tokio::test]
async fn every_operation_of_the_service_model_is_answered_under_its_name() {
    let world = World::new(NOW).await;
    for line in MODEL.lines().filter(|line| !line.starts_with('#')) {
        let parts: Vec<&str> = line.split(' ').collect();
        let [name, method, path, query, headers, newer @ ..] = parts.as_slice() else {
            panic!("{line}");
        };
        let target = if *query == "-" { (*path).to_owned() } else { format!("{path}?{query}") };
        let mut request =
            Request::builder().method(*method).uri(target).header("host", "localhost");
        // Without one the request says nothing of its dialect.
        request = request.header("amz-sdk-request", "attempt=1");
        for header in headers.split(',').filter(|header| *header != "-") {
            request = request.header(header, "1");
        }
        let answer = world.service.answer(request.body(Full::<Bytes>::default()).unwrap()).await;
        let Operation(answered) = answer.extensions().get().unwrap();
        assert_eq!(answered, newer.first().unwrap_or(name), "{line}");
    }
}

#[tokio::test]
async fn a_request_that_writes_with_a_parameter_without_a_meaning_does_nothing_and_names_it() {
    for world in [World::new(NOW).await, World::strict(NOW).await] {
        world.store("/bkt/key", b"first").await;
        for (method, target, named) in [
            ("DELETE", "/versioned?metadataConfiguration", "DeleteBucketMetadataConfiguration"),
            ("DELETE", "/versioned?somethingNew", "somethingNew"),
            ("DELETE", "/versioned?versionId=null", "versionId"),
            ("PUT", "/bkt?somethingNew", "somethingNew"),
            ("DELETE", "/bkt/key?annotation&annotationName=x", "DeleteObjectAnnotation"),
            ("DELETE", "/bkt/key?somethingNew=1", "somethingNew"),
            ("DELETE", "/bkt/key?partNumber=1", "partNumber"),
            ("PUT", "/bkt/key?encryption", "UpdateObjectEncryption"),
            ("PUT", "/bkt/key?annotation&annotationName=x", "PutObjectAnnotation"),
            ("PUT", "/bkt/key?versionId=null", "versionId"),
            ("PUT", "/bkt/key?acl&legal", "legal"),
            ("PUT", "/bkt/key?if-none-match=*", "if-none-match"),
            ("POST", "/bkt?delete&quiet", "quiet"),
        ] {
            let answer = world.send(&Draft::new(method, target, b"<New/>")).await;
            assert_eq!(answer.status, 501, "{method} {target}: {}", answer.text());
            assert_eq!(answer.element("Code").as_deref(), Some("NotImplemented"));
            assert!(answer.element("Message").unwrap().contains(named), "{}", answer.text());
        }
        assert_eq!(world.fetch("/bkt/key").await.body, b"first");
        assert_eq!(world.fetch("/versioned").await.status, 200);
    }
}

#[tokio::test]
async fn parameters_of_clients_and_unknown_ones_of_reads_are_passed_over() {
    let world = World::new(NOW).await;
    world.store("/bkt/key?x-id=PutObject&X-Own=1", b"first").await;
    assert_eq!(world.fetch("/bkt/key?somethingNew=1&x-id=GetObject").await.body, b"first");
    let answer = world.send(&Draft::new("DELETE", "/bkt/key?x-id=DeleteObject", b"")).await;
    assert_eq!(answer.status, 204, "{}", answer.text());
}
