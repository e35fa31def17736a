//! The player: who may play what, with which captions, under what overlays, and what it counts.

use http::Request;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};

use crate::service::{Answer, Service};

/// A film of Alice's, and its bytes.
async fn upload(service: &Service, status: Value) -> (String, Vec<u8>) {
    let film = video_api::media::sample::Mp4::new(640, 360, 60_000).bytes();
    let metadata = json!({"snippet": {"title": "Film \"<b>\"".replace(['<', '>'], "'"), "categoryId": "22"}, "status": status});
    let body = [
        b"--B\r\nContent-Type: application/json\r\n\r\n",
        metadata.to_string().as_bytes(),
        b"\r\n--B\r\nContent-Type: video/mp4\r\n\r\n",
        film.as_slice(),
        b"\r\n--B--",
    ]
    .concat();
    let kind = [("content-type", "multipart/related; boundary=B")];
    let target = "/upload/youtube/v3/videos?part=snippet,status&uploadType=multipart";
    let made = service.ask_with("POST", target, "ALICE", &kind, &body).await;
    assert_eq!(made.status, 200, "{}", made.json());
    (made.json()["id"].as_str().unwrap().to_owned(), film.clone())
}

async fn control(service: &Service, path: &str, body: Value) -> (u16, Value) {
    let request = Request::builder().method("POST").uri(path).header("host", "127.0.0.1:7801");
    let request = request.body(Full::new(body.to_string().into())).unwrap();
    let answer = service.api.answer_control(request).await.ok().unwrap();
    let status = answer.status().as_u16();
    let bytes = answer.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&bytes).unwrap_or_default())
}

fn text(answer: &Answer) -> String {
    String::from_utf8(answer.body.to_vec()).unwrap()
}

fn header<'a>(answer: &'a Answer, name: &str) -> &'a str {
    answer.headers.get(name).map_or("", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn the_player_that_a_video_names_plays_its_bytes_in_any_range() {
    let service = Service::new().await;
    let (id, film) = upload(&service, json!({})).await;
    for (size, width, height) in [
        ("", "480", "270"),
        ("&maxWidth=960", "960", "540"),
        ("&maxWidth=960&maxHeight=180", "320", "180"),
    ] {
        let shown = service.list(&format!("/videos?part=player&id={id}{size}")).await;
        let html = shown["items"][0]["player"]["embedHtml"].as_str().unwrap().to_owned();
        let frame = format!(
            "<iframe width=\"{width}\" height=\"{height}\" src=\"http://127.0.0.1:7801/embed/{id}\""
        );
        assert!(html.starts_with(&frame), "{html}");
    }
    let page = service.ask("GET", &format!("/embed/{id}"), "", "").await;
    let html = text(&page);
    assert_eq!((page.status, header(&page, "content-type")), (200, "text/html; charset=UTF-8"));
    assert!(
        header(&page, "content-security-policy")
            .starts_with("default-src 'none'; script-src 'self'")
    );
    assert!(html.contains(&format!("src=\"{id}/video\"")) && !html.contains("<script>"), "{html}");
    let video = format!("/embed/{id}/video");
    let whole = service.ask("GET", &video, "", "").await;
    assert_eq!(
        (whole.status, header(&whole, "content-type"), &whole.body[..]),
        (200, "video/mp4", &film[..])
    );
    let part = service.ask_with("GET", &video, "", &[("range", "bytes=4-7")], b"").await;
    assert_eq!((part.status, &part.body[..]), (206, &film[4..8]));
    let over = service.ask_with("GET", &video, "", &[("range", "bytes=999999999-")], b"").await;
    assert_eq!(over.status, 416);
    assert!(header(&over, "content-type").starts_with("application/json"), "a refusal is no video");
    for (path, kind) in [("/embed/player.js", "text/javascript"), ("/embed/player.css", "text/css")]
    {
        let asset = service.ask("GET", path, "", "").await;
        assert_eq!((asset.status, header(&asset, "content-type").starts_with(kind)), (200, true));
    }
    for (method, path, status) in [
        ("GET", "/embed/never", 404),
        ("GET", "/embed/v/other", 404),
        ("GET", "/embed/v/video", 404),
        ("POST", "/embed/v", 405),
        ("GET", "/embed/v/play", 405),
    ] {
        assert_eq!(service.ask(method, path, "", "").await.status, status, "{method} {path}");
    }
}

/// Adds a playlist of these videos.
async fn playlist(service: &Service, privacy: &str, videos: &[&str]) -> String {
    let body = json!({"snippet": {"title": "Series"}, "status": {"privacyStatus": privacy}});
    let target = "/youtube/v3/playlists?part=snippet,status,player";
    let made = service.ask("POST", target, "ALICE", &body.to_string()).await.json();
    let id = made["id"].as_str().unwrap().to_owned();
    let html = made["player"]["embedHtml"].as_str().unwrap();
    let address = format!("src=\"http://127.0.0.1:7801/embed/videoseries?list={id}\"");
    assert!(html.contains(&address), "{html}");
    for video in videos {
        let resource = json!({"kind": "youtube#video", "videoId": video});
        let body = json!({"snippet": {"playlistId": id, "resourceId": resource}}).to_string();
        let target = "/youtube/v3/playlistItems?part=snippet";
        assert_eq!(service.ask("POST", target, "ALICE", &body).await.status, 200);
    }
    id
}

/// The videos that the player of a playlist goes through, each by the address that the one before it names.
async fn played(service: &Service, list: &str, index: &str) -> Vec<String> {
    let mut address = format!("videoseries?list={list}{index}");
    let mut played = Vec::new();
    loop {
        let page = service.ask("GET", &format!("/embed/{address}"), "", "").await;
        let html = text(&page);
        if page.status != 200 {
            assert_eq!((page.status, html.contains("role=\"alert\"")), (404, true), "{html}");
            return played;
        }
        // A video of the seed file has no bytes, and its page no address of them.
        let source = html.split_once("data-play=\"").and_then(|(_, rest)| rest.split_once("/play"));
        played.push(source.map_or_else(String::new, |(video, _)| video.to_owned()));
        let Some((_, next)) = html.split_once("class=\"next\" href=\"") else {
            return played;
        };
        address = next.split_once('"').unwrap().0.replace("&amp;", "&");
    }
}

#[tokio::test]
async fn the_player_of_a_playlist_goes_through_what_others_may_play_in_its_order() {
    let service = Service::new().await;
    let mut films = Vec::new();
    for status in [
        json!({}),
        json!({"privacyStatus": "private"}),
        json!({"privacyStatus": "unlisted"}),
        json!({"embeddable": false}),
        json!({}),
        json!({}),
    ] {
        service.later(1);
        films.push(upload(&service, status).await.0);
    }
    let [a, private, b, closed, c, gone] = [0, 1, 2, 3, 4, 5].map(|at| films[at].as_str());
    let order = [private, c, c, closed, b, gone, a, private];
    let list = playlist(&service, "unlisted", &order).await;
    let target = format!("/youtube/v3/videos?id={gone}");
    assert_eq!(service.ask("DELETE", &target, "ALICE", "").await.status, 204);
    assert_eq!(played(&service, &list, "").await, [c, c, b, a]);
    assert_eq!(played(&service, &list, "&index=3").await, [b, a]);
    for beyond in ["7", "8", "4294967295"] {
        assert!(played(&service, &list, &format!("&index={beyond}")).await.is_empty());
    }
    // The uploads that everybody is shown, the latest first.
    assert_eq!(played(&service, "UUx", "").await, [c, a, "", ""]);
    let hidden = playlist(&service, "private", &[a]).await;
    for list in [&hidden, "PL", "WLx", "LLx", "HLx", "UU", "UUnone", "never", ""] {
        assert!(played(&service, list, "").await.is_empty(), "{list}");
    }
    let target = format!("/youtube/v3/playlists?id={list}");
    assert_eq!(service.ask("DELETE", &target, "ALICE", "").await.status, 204);
    assert!(played(&service, &list, "").await.is_empty());
}

#[tokio::test]
async fn a_play_counts_as_the_control_path_counts_it() {
    let service = Service::new().await;
    for views in ["1", "2"] {
        assert_eq!(service.ask("POST", "/embed/v/play", "", "").await.status, 204);
        let shown = service.list("/videos?part=statistics&id=v").await;
        assert_eq!(shown["items"][0]["statistics"]["viewCount"], views);
    }
    assert_eq!(service.ask("POST", "/embed/p/play", "", "").await.status, 404);
}

#[tokio::test]
async fn published_captions_come_as_webvtt_and_others_do_not() {
    let service = Service::new().await;
    let (id, _) = upload(&service, json!({})).await;
    let insert = async |language: &str, draft: bool, file: &str| {
        let snippet =
            json!({"snippet": {"videoId": id, "language": language, "name": "", "isDraft": draft}});
        let body = format!(
            "--B\r\nContent-Type: application/json\r\n\r\n{snippet}\r\n--B\r\nContent-Type: text/plain\r\n\r\n{file}\r\n--B--"
        );
        let kind = [("content-type", "multipart/related; boundary=B")];
        let target = "/upload/youtube/v3/captions?part=snippet&uploadType=multipart";
        let made = service.ask_with("POST", target, "ALICE", &kind, body.as_bytes()).await;
        assert_eq!(made.status, 200, "{}", made.json());
        made.json()["id"].as_str().unwrap().to_owned()
    };
    let srt = "1\r\n00:00:01,000 --> 00:00:02,000\r\nHello <i>there</i>\r\n";
    let (shown, draft) = (insert("en", false, srt).await, insert("de", true, srt).await);
    let broken = insert("fr", false, "no captions").await;
    let html = text(&service.ask("GET", &format!("/embed/{id}"), "", "").await);
    assert!(
        html.contains(&format!(
            "<track kind=\"captions\" src=\"{id}/captions/{shown}.vtt\" srclang=\"en\""
        )),
        "{html}"
    );
    assert_eq!(html.matches("<track").count(), 1);
    let track = |caption: &str| format!("/embed/{id}/captions/{caption}.vtt");
    let vtt = service.ask("GET", &track(&shown), "", "").await;
    assert_eq!((vtt.status, header(&vtt, "content-type")), (200, "text/vtt; charset=UTF-8"));
    let cues = text(&vtt);
    assert!(
        cues.starts_with("WEBVTT")
            && cues.contains("00:01.000 --> 00:00:02.000")
                | cues.contains("00:01.000 --> 00:02.000"),
        "{cues}"
    );
    for other in [draft, broken, "c".to_owned()] {
        assert_eq!(service.ask("GET", &track(&other), "", "").await.status, 404, "{other}");
    }
}

#[tokio::test]
async fn what_others_must_not_see_is_refused_and_its_owner_plays_it_by_a_link_for_a_while() {
    let service = Service::new().await;
    let (private, film) = upload(&service, json!({"privacyStatus": "private"})).await;
    let (closed, _) = upload(&service, json!({"embeddable": false})).await;
    let (unlisted, _) = upload(&service, json!({"privacyStatus": "unlisted"})).await;
    for (id, status) in [(&private, 404), (&closed, 403), (&unlisted, 200)] {
        for rest in ["", "/video"] {
            let answer = service.ask("GET", &format!("/embed/{id}{rest}"), "ALICE", "").await;
            assert_eq!(answer.status, status, "{id}{rest}");
        }
        let page = service.ask("GET", &format!("/embed/{id}"), "", "").await;
        assert_eq!(header(&page, "content-type"), "text/html; charset=UTF-8");
    }
    let (status, link) = control(&service, "/_ops/playerLinks", json!({"video": private})).await;
    let url = link["url"].as_str().unwrap().to_owned();
    let (base, ticket) = url.split_once('?').unwrap();
    assert_eq!((status, base), (200, format!("http://127.0.0.1:7801/embed/{private}").as_str()));
    let page = service.ask("GET", &format!("/embed/{private}?{ticket}"), "", "").await;
    assert!(text(&page).contains(&format!("src=\"{private}/video?{ticket}\"")));
    let bytes = service.ask("GET", &format!("/embed/{private}/video?{ticket}"), "", "").await;
    assert_eq!((bytes.status, bytes.body.len()), (200, film.len()));
    // A ticket is for one video, and cannot be made up or drawn out.
    assert_eq!(service.ask("GET", &format!("/embed/{closed}?{ticket}"), "", "").await.status, 403);
    let longer = ticket.replacen("ticket=", "ticket=f", 1);
    assert_eq!(service.ask("GET", &format!("/embed/{private}?{longer}"), "", "").await.status, 404);
    service.later(601);
    assert_eq!(service.ask("GET", &format!("/embed/{private}?{ticket}"), "", "").await.status, 404);
    assert_eq!(control(&service, "/_ops/playerLinks", json!({"video": "never"})).await.0, 404);
}

#[tokio::test]
async fn a_watermark_that_cannot_be_is_refused_with_the_place_of_its_fault() {
    let service = Service::new().await;
    let timing = |kind: &str| json!({"type": kind, "offsetMs": "0", "durationMs": "3000"});
    let corner = |corner: &str| json!({"type": "corner", "cornerPosition": corner});
    for (settings, place) in [
        (json!({"timing": timing("offsetFromNoon"), "position": corner("topLeft")}), "timing"),
        (json!({"timing": timing("offsetFromStart"), "position": corner("middle")}), "position"),
        (json!({"timing": timing("offsetFromStart"), "position": {"type": "edge"}}), "position"),
        (json!({"position": corner("middle")}), "timing"),
    ] {
        let body =
            format!("--B\r\n\r\n{settings}\r\n--B\r\nContent-Type: image/png\r\n\r\npng\r\n--B--");
        let kind = [("content-type", "multipart/related; boundary=B")];
        let target = "/upload/youtube/v3/watermarks/set?channelId=UCx&uploadType=multipart";
        let answer = service.ask_with("POST", target, "ALICE", &kind, body.as_bytes()).await;
        let told = &answer.json()["error"]["errors"][0]["location"];
        assert_eq!((answer.status, told), (400, &json!(format!("body.{place}"))), "{settings}");
    }
}

#[tokio::test]
async fn the_player_offers_every_published_track_however_many_drafts_came_before() {
    let service = Service::new().await;
    let (id, _) = upload(&service, json!({})).await;
    let is_published = |at: usize| at >= 110 && at % 2 == 1;
    let mut tracks = Vec::new();
    for at in 0..120 {
        let snippet = json!({"videoId": id, "language": "en", "name": format!("n{at}"), "isDraft": !is_published(at)});
        let body = format!(
            "--b\r\n\r\n{}\r\n--b\r\nContent-Type: text/vtt\r\n\r\nWEBVTT\n\n00:01.000 --> 00:02.000\nx\n\r\n--b--",
            json!({"snippet": snippet})
        );
        let target = "/upload/youtube/v3/captions?part=id,snippet&uploadType=multipart";
        let kind = [("content-type", "multipart/related; boundary=b")];
        let made = service.ask_with("POST", target, "ALICE", &kind, body.as_bytes()).await;
        assert_eq!(made.status, 200, "{}", made.json());
        tracks.push(made.json()["id"].as_str().unwrap().to_owned());
        service.later(1);
    }
    let html = text(&service.ask("GET", &format!("/embed/{id}"), "", "").await);
    for (at, track) in tracks.iter().enumerate() {
        let expected = usize::from(is_published(at));
        assert_eq!(html.matches(&format!("/{track}.vtt\"")).count(), expected, "{at}: {html}");
        let file = service.ask("GET", &format!("/embed/{id}/captions/{track}.vtt"), "", "").await;
        assert_eq!(file.status, if is_published(at) { 200 } else { 404 }, "{at}");
    }
}

/// Sets a watermark for Alice's channel.
async fn set_mark(service: &Service) {
    let mut png = std::io::Cursor::new(Vec::new());
    image::RgbImage::new(32, 32).write_to(&mut png, image::ImageFormat::Png).unwrap();
    let settings = json!({"timing": {"type": "offsetFromStart", "offsetMs": "2000", "durationMs": "3000"},
        "position": {"type": "corner", "cornerPosition": "bottomLeft"}, "targetChannelId": "UCbob"});
    let body = [
        format!("--B\r\nContent-Type: application/json\r\n\r\n{settings}\r\n--B\r\nContent-Type: image/png\r\n\r\n").as_bytes(),
        png.get_ref(),
        b"\r\n--B--",
    ]
    .concat();
    let kind = [("content-type", "multipart/related; boundary=B")];
    let target = "/upload/youtube/v3/watermarks/set?channelId=UCx&uploadType=multipart";
    let set = service.ask_with("POST", target, "ALICE", &kind, &body).await;
    assert_eq!(set.status, 204, "{}", set.json());
}

#[tokio::test]
async fn a_watermark_and_promotions_lie_over_the_video_with_their_times_and_links() {
    let service = Service::new().await;
    let (id, _) = upload(&service, json!({})).await;
    set_mark(&service).await;
    let promotion = json!({"id": "UCx", "invideoPromotion": {
        "defaultTiming": {"type": "offsetFromEnd", "offsetMs": "15000"}, "position": {"type": "corner", "cornerPosition": "topLeft"},
        "items": [{"id": {"type": "video", "videoId": "v"}}, {"id": {"type": "website", "websiteUrl": "https://example.com/?a=1&b=2"}, "customMessage": "Look \"here\""},
            {"id": {"type": "video", "videoId": "p"}}, {"id": {"type": "recentUpload"}}]}});
    let update = "/youtube/v3/channels?part=invideoPromotion";
    let updated = service.ask("PUT", update, "ALICE", &promotion.to_string()).await;
    assert_eq!(updated.status, 200, "{}", updated.json());
    let html = text(&service.ask("GET", &format!("/embed/{id}"), "", "").await);
    let mark = "<a class=\"overlay watermark bottomLeft\" href=\"https://www.youtube.com/channel/UCbob\" target=\"_blank\" rel=\"noopener noreferrer\" \
        data-type=\"offsetFromStart\" data-offset=\"2000\" data-length=\"3000\" hidden><img src=\"../watermark/UCx\"";
    assert!(html.contains(mark), "{html}");
    assert!(html.contains("href=\"v\"") && html.contains(">First</a>"), "{html}");
    assert!(
        html.contains("href=\"https://example.com/?a=1&amp;b=2\"")
            && html.contains("Look &quot;here&quot;</a>"),
        "{html}"
    );
    assert!(!html.contains("href=\"p\""), "a private video is promoted to nobody: {html}");
    assert!(html.contains(&format!("href=\"{id}\"")), "the latest upload: {html}");
    assert_eq!(service.ask("GET", "/watermark/UCx", "", "").await.status, 200);
}

#[tokio::test]
async fn watermarks_unset_deletes_the_image_of_a_channel() {
    let service = Service::new().await;
    let (id, _) = upload(&service, json!({})).await;
    let shown = async || {
        let page = text(&service.ask("GET", &format!("/embed/{id}"), "", "").await);
        (page.contains("watermark"), service.ask("GET", "/watermark/UCx", "", "").await.status)
    };
    set_mark(&service).await;
    assert_eq!(shown().await, (true, 200));
    for _ in 0..2 {
        let unset = "/youtube/v3/watermarks/unset?channelId=UCx";
        assert_eq!(service.ask("POST", unset, "ALICE", "").await.status, 204);
        assert_eq!(shown().await, (false, 404));
    }
}
