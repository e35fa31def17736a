//! Websites: what a browser is shown, and where it is led.

mod service;

use service::{Answer, Draft, NOW, World};

const WEBSITE: &str = "<WebsiteConfiguration><IndexDocument><Suffix>index.html</Suffix></IndexDocument><ErrorDocument><Key>error.html</Key></ErrorDocument><RoutingRules><RoutingRule><Condition><KeyPrefixEquals>docs/</KeyPrefixEquals></Condition><Redirect><ReplaceKeyPrefixWith>documents/</ReplaceKeyPrefixWith></Redirect></RoutingRule><RoutingRule><Condition><HttpErrorCodeReturnedEquals>404</HttpErrorCodeReturnedEquals><KeyPrefixEquals>lost/</KeyPrefixEquals></Condition><Redirect><HostName>other.example</HostName><Protocol>https</Protocol><HttpRedirectCode>302</HttpRedirectCode></Redirect></RoutingRule></RoutingRules></WebsiteConfiguration>";

async fn visit(world: &World, method: &str, path: &str, headers: &str) -> Answer {
    let request = format!("{method} {path} HTTP/1.1\r\nhost: open.web.example\r\n{headers}\r\n");
    world.exchange(request.as_bytes()).await
}

async fn world() -> World {
    let world = World::new(NOW).await;
    let answer = world.send(&Draft::document("/open?website", WEBSITE.as_bytes())).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    for (key, text) in [
        ("index.html", "home"),
        ("sub/index.html", "sub"),
        ("error.html", "sorry"),
        ("a b.txt", "plain"),
    ] {
        let target = format!("/open/{}", key.replace(' ', "%20"));
        let put = Draft::put(&target, text.as_bytes()).with("content-type", "text/html");
        assert_eq!(world.send(&put).await.status, 200);
    }
    for (target, place) in [("/open/moved", "/sub/"), ("/open/away", "/é?a=b%20c")] {
        let moved = Draft::put(target, b"").with("x-store-website-redirect-location", place);
        assert_eq!(world.send(&moved).await.status, 200);
    }
    world
}

#[tokio::test]
async fn a_browser_is_shown_pages_and_led_on() {
    let world = world().await;
    for (path, status, body, location) in [
        ("/", 200, "home", ""),
        ("/sub/", 200, "sub", ""),
        ("/sub/index.html", 200, "sub", ""),
        ("/a%20b.txt", 200, "plain", ""),
        ("/?list-type=2", 200, "home", ""),
        ("/sub", 302, "", "/sub/"),
        ("/docs/a", 301, "", "http://open.web.example/documents/a"),
        ("/lost/a", 302, "", "https://other.example/lost/a"),
        ("/moved", 301, "", "/sub/"),
        ("/away", 301, "", "/%C3%A9?a=b%20c"),
        ("/none", 404, "sorry", ""),
        ("/none/", 404, "sorry", ""),
        ("/%ff", 400, "<html>", ""),
    ] {
        let answer = visit(&world, "GET", path, "").await;
        assert_eq!(answer.status, status, "{path}: {}", answer.text());
        assert!(answer.text().starts_with(body), "{path}: {}", answer.text());
        assert_eq!(answer.header("location").unwrap_or_default(), location, "{path}");
        let head = visit(&world, "HEAD", path, "").await;
        assert_eq!((head.status, head.body.len()), (status, 0), "{path}");
    }
    let none = visit(&world, "GET", "/none", "").await;
    assert_eq!(none.header("x-store-error-code"), Some("NoSuchKey"));
    assert_eq!(none.header("content-type"), Some("text/html"));
    let part = visit(&world, "GET", "/", "range: bytes=1-2\r\n").await;
    assert_eq!((part.status, part.body.as_slice()), (206, &b"om"[..]));
    let etag = visit(&world, "GET", "/", "").await.header("etag").unwrap().to_owned();
    let same = visit(&world, "GET", "/", &format!("if-none-match: {etag}\r\n")).await;
    assert_eq!(same.status, 304);
}

#[tokio::test]
async fn a_visitor_who_may_read_but_not_list_is_led_to_a_folder_too() {
    let world = World::new(NOW).await;
    let policy = r#"{"Statement": {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject",
        "Resource": ["arn:aws:s3:::enforced/pages*"]}}"#;
    for (target, body) in [
        ("/enforced?website", WEBSITE),
        ("/enforced?policy", policy),
        ("/enforced/pages/index.html", "pages"),
        ("/enforced/held/index.html", "held"),
        ("/enforced/pages/shut", "a page"),
        ("/enforced/pages/shut/index.html", "a folder"),
    ] {
        let answer = world.send(&Draft::put(target, body.as_bytes())).await;
        assert!(answer.status < 300, "{target}: {}", answer.text());
    }
    for (path, status, location) in [
        ("/pages", 302, "/pages/"),
        ("/pages/shut", 200, ""),
        // There is nothing, or nothing that the visitor may read.
        ("/none", 403, ""),
        ("/held", 403, ""),
    ] {
        let request = format!("GET {path} HTTP/1.1\r\nhost: enforced.web.example\r\n\r\n");
        let answer = world.exchange(request.as_bytes()).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.text());
        assert_eq!(answer.header("location").unwrap_or_default(), location, "{path}");
    }
}

#[tokio::test]
async fn a_website_takes_nothing_and_hides_what_is_not_public() {
    let world = world().await;
    for method in ["PUT", "POST", "DELETE"] {
        let answer = visit(&world, method, "/index.html", "content-length: 0\r\n").await;
        assert_eq!(answer.status, 405, "{method}");
        assert!(answer.text().contains("<li>Code: MethodNotAllowed</li>"), "{}", answer.text());
    }
    let page = |host: &str| format!("GET / HTTP/1.1\r\nhost: {host}.web.example\r\n\r\n");
    for (bucket, status, code) in [
        ("nowhere", 404, "NoSuchBucket"),
        ("bkt", 404, "NoSuchWebsiteConfiguration"),
        ("enforced", 403, "AccessDenied"),
    ] {
        if bucket == "enforced" {
            world.send(&Draft::document("/enforced?website", WEBSITE.as_bytes())).await;
            world.store("/enforced/index.html", b"secret").await;
        }
        let answer = world.exchange(page(bucket).as_bytes()).await;
        assert_eq!(answer.status, status, "{bucket}: {}", answer.text());
        assert!(answer.text().contains(&format!("<li>Code: {code}</li>")), "{}", answer.text());
        assert!(!answer.text().contains("secret"));
    }
    let gone = world.send(&Draft::new("DELETE", "/open?website", b"")).await;
    assert_eq!(gone.status, 204);
    assert_eq!(visit(&world, "GET", "/", "").await.status, 404);
    let missing = world.fetch("/open?website").await;
    assert_eq!(missing.element("Code").as_deref(), Some("NoSuchWebsiteConfiguration"));
}

#[tokio::test]
async fn a_policy_looks_at_the_page_that_a_visitor_comes_from_whatever_is_shown() {
    let world = World::new(NOW).await;
    let policy = r#"{"Statement": [{"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::enforced/*",
        "Condition": {"StringLike": {"aws:Referer": "https://friend.example/*"}, "StringNotLike": {"aws:UserAgent": "*robot*"}}}]}"#;
    for (target, body) in
        [("/enforced?website", WEBSITE.as_bytes()), ("/enforced?policy", policy.as_bytes())]
    {
        let answer = world.send(&Draft::put(target, body)).await;
        assert!(answer.status < 300, "{}", answer.text());
    }
    world.store("/enforced/index.html", b"home").await;
    world.store("/enforced/error.html", b"sorry").await;
    let (friend, robot) = ("referer: https://friend.example/a\r\n", "user-agent: a robot\r\n");
    let both = format!("{friend}{robot}");
    for (path, headers, status, body) in [
        ("/", friend, 200, "home"),
        ("/", "", 403, "<html>"),
        ("/", "referer: https://stranger.example/a\r\n", 403, "<html>"),
        ("/", both.as_str(), 403, "<html>"),
        // The error document is shown to whom it may be shown.
        ("/none", friend, 403, "sorry"),
        ("/none", "", 403, "<html>"),
    ] {
        let request = format!("GET {path} HTTP/1.1\r\nhost: enforced.web.example\r\n{headers}\r\n");
        let answer = world.exchange(request.as_bytes()).await;
        assert_eq!(answer.status, status, "{path} {headers}: {}", answer.text());
        assert!(answer.text().starts_with(body), "{path} {headers}: {}", answer.text());
    }
}

#[tokio::test]
async fn a_configuration_has_128_kib_at_most_and_leads_by_all_of_its_rules() {
    let world = world().await;
    let rule = |number: usize| {
        let long = "x".repeat(1_000);
        format!(
            "<RoutingRule><Condition><KeyPrefixEquals>{number}/{long}</KeyPrefixEquals></Condition><Redirect><ReplaceKeyWith>to/{number}/{long}</ReplaceKeyWith></Redirect></RoutingRule>"
        )
    };
    let document = |filler: usize| {
        let rules: String = (0..50).map(rule).collect();
        let blanks = " ".repeat(filler);
        format!(
            "<WebsiteConfiguration><IndexDocument><Suffix>i</Suffix></IndexDocument>{blanks}<RoutingRules>{rules}</RoutingRules></WebsiteConfiguration>"
        )
    };
    let rest = 128 * 1024 - document(0).len();
    let put = world.send(&Draft::document("/open?website", document(rest).as_bytes())).await;
    assert_eq!(put.status, 200, "{}", put.text());
    let kept = world.fetch("/open?website").await;
    assert_eq!(kept.text().matches("<RoutingRule>").count(), 50);
    let long = "x".repeat(1_000);
    let last = visit(&world, "GET", &format!("/49/{long}"), "").await;
    let place = format!("http://open.web.example/to/49/{long}");
    assert_eq!((last.status, last.header("location")), (301, Some(&*place)));
    let longer = document(rest + 1);
    let refused = world.send(&Draft::document("/open?website", longer.as_bytes())).await;
    assert_eq!(refused.status, 400);
    assert_eq!(refused.element("Code").as_deref(), Some("MaxMessageLengthExceeded"));
    assert_eq!(refused.element("MaxMessageLengthBytes").as_deref(), Some("131072"));
    // What is put in its place leaves nothing of it.
    assert_eq!(world.send(&Draft::document("/open?website", WEBSITE.as_bytes())).await.status, 200);
    assert_eq!(world.fetch("/open?website").await.text().matches("<RoutingRule>").count(), 2);
}
