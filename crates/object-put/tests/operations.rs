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
            ("PUT", "/bkt?somethingNew", "somethingNew"),
            ("DELETE", "/bkt/key?annotation&annotationName=x", "DeleteObjectAnnotation"),
            ("DELETE", "/bkt/key?somethingNew=1", "somethingNew"),
            ("DELETE", "/bkt/key?partNumber=1", "partNumber"),
            ("PUT", "/bkt/key?encryption", "UpdateObjectEncryption"),
            ("PUT", "/bkt/key?annotation&annotationName=x", "PutObjectAnnotation"),
            ("PUT", "/bkt/key?acl&legal", "legal"),
            ("PUT", "/bkt/key?if-none-match=*", "if-none-match"),
            ("POST", "/bkt?delete&quiet", "quiet"),
        ] {
            let answer = world.send(&Draft::new(method, target, b"<New/>")).await;
            assert_eq!(answer.status, 501, "{method} {target}: {}", answer.text());
            assert_eq!(answer.element("Code").as_deref(), Some("NotImplemented"));
            assert!(answer.element("Message").unwrap().contains(named), "{}", answer.text());
        }
        // What makes a version, or is about none, accepts none, in the real service's words.
        for (method, target) in
            [("PUT", "/bkt/key?versionId=null"), ("DELETE", "/versioned?versionId=null")]
        {
            let answer = world.send(&Draft::new(method, target, b"new")).await;
            assert_eq!(answer.status, 400, "{}", answer.text());
            assert_eq!(answer.element("ArgumentName").as_deref(), Some("versionId"));
        }
        assert_eq!(world.fetch("/bkt/key").await.body, b"first");
        assert_eq!(world.fetch("/versioned").await.status, 200);
    }
}

#[test]
fn the_pages_of_operations_are_the_tables() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operations");
    for (name, made) in [
        ("object-put.md", object_put::operation::table::page()),
        ("object-put-buckets.md", object_put::operation::bucket_kinds::page()),
    ] {
        let kept = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert!(
            kept == made,
            "docs/operations/{name} is not the table any more; this is its text:\n{made}"
        );
    }
}

#[tokio::test]
async fn what_no_bucket_has_is_read_as_never_set_switched_off_and_not_set() {
    let world = World::new(NOW).await;
    for (query, status, found) in [
        ("abac", 200, "<Status>Disabled</Status>"),
        ("accelerate", 200, "<AccelerateConfiguration"),
        ("analytics", 200, "<IsTruncated>false</IsTruncated>"),
        ("analytics&id=a", 404, "NoSuchConfiguration"),
        ("intelligent-tiering", 200, "<IsTruncated>false</IsTruncated>"),
        ("intelligent-tiering&id=a", 404, "NoSuchConfiguration"),
        ("inventory", 200, "<IsTruncated>false</IsTruncated>"),
        ("inventory&id=a", 404, "NoSuchConfiguration"),
        ("metrics", 200, "<IsTruncated>false</IsTruncated>"),
        ("metrics&id=a", 404, "NoSuchConfiguration"),
        ("logging", 200, "<BucketLoggingStatus"),
        ("metadataConfiguration", 404, "MetadataConfigurationNotFound"),
        ("metadataTable", 404, "MetadataConfigurationNotFound"),
        ("notification", 200, "<NotificationConfiguration"),
        ("replication", 404, "ReplicationConfigurationNotFoundError"),
    ] {
        let answer = world.fetch(&format!("/bkt?{query}")).await;
        assert_eq!(answer.status, status, "{query}: {}", answer.text());
        assert!(answer.text().contains(found), "{query}: {}", answer.text());
        let of_nobody = world.fetch(&format!("/nowhere-at-all?{query}")).await;
        assert_eq!(of_nobody.element("Code").as_deref(), Some("NoSuchBucket"), "{query}");
    }
    for (query, body, status) in [
        ("abac", "<AbacStatus><Status>Disabled</Status></AbacStatus>", 200),
        ("abac", "<AbacStatus><Status>Enabled</Status></AbacStatus>", 501),
        ("abac", "<AbacStatus/>", 400),
        (
            "accelerate",
            "<AccelerateConfiguration><Status>Suspended</Status></AccelerateConfiguration>",
            200,
        ),
        (
            "accelerate",
            "<AccelerateConfiguration><Status>Enabled</Status></AccelerateConfiguration>",
            501,
        ),
        (
            "accelerate",
            "<AccelerateConfiguration><Status>Fast</Status></AccelerateConfiguration>",
            400,
        ),
        ("logging", "<BucketLoggingStatus/>", 200),
        ("logging", "<BucketLoggingStatus><LoggingEnabled/></BucketLoggingStatus>", 501),
        ("notification", "<NotificationConfiguration/>", 200),
        (
            "notification",
            "<NotificationConfiguration><EventBridgeConfiguration/></NotificationConfiguration>",
            501,
        ),
        ("notification", "<Other/>", 400),
        ("analytics&id=a", "<AnalyticsConfiguration/>", 501),
        ("replication", "<ReplicationConfiguration/>", 501),
    ] {
        let answer = world.send(&Draft::document(&format!("/bkt?{query}"), body.as_bytes())).await;
        assert_eq!(answer.status, status, "{query} {body}: {}", answer.text());
    }
    for (query, status) in [("analytics&id=a", 404), ("metrics&id=a", 404), ("replication", 204)] {
        let answer = world.send(&Draft::new("DELETE", &format!("/bkt?{query}"), b"")).await;
        assert_eq!(answer.status, status, "{query}: {}", answer.text());
    }
}

#[tokio::test]
async fn a_list_of_settings_goes_on_from_no_place() {
    let world = World::new(NOW).await;
    for list in ["analytics", "intelligent-tiering", "inventory", "metrics"] {
        for (token, status) in [("", 200), ("x", 400)] {
            let answer = world.fetch(&format!("/bkt?{list}&continuation-token={token}")).await;
            assert_eq!(answer.status, status, "{list}: {}", answer.text());
        }
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
