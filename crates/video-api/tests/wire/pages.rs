//! Pages: of lists by id, and of playlists whose items go while they are read.

use serde_json::{Value, json};

use crate::service::{SEED, Service};

fn ids(page: &Value) -> Vec<String> {
    let items = page["items"].as_array().unwrap().iter();
    items.map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_list_by_id_comes_in_pages_where_the_request_says_how_many() {
    let service = Service::new().await;
    let items = ids(&service.list("/playlistItems?part=id&playlistId=PLx").await);
    for (list, wanted) in [
        ("playlists", vec!["PLx".to_owned(), "PL".into(), "UUx".into()]),
        ("channels", vec!["UCbob".into(), "UCx".into()]),
        ("playlistItems", items),
    ] {
        let all = format!("/{list}?part=id&id=none,{}", wanted.join(","));
        let whole = service.list(&all).await;
        assert_eq!(ids(&whole), wanted);
        let info = json!({"totalResults": wanted.len(), "resultsPerPage": 5});
        assert_eq!(whole["pageInfo"], info);
        assert_eq!(whole.get("nextPageToken"), None);
        let (mut forth, mut page) =
            (Vec::new(), service.list(&format!("{all}&maxResults=1")).await);
        loop {
            assert_eq!(page["pageInfo"]["resultsPerPage"], 1);
            forth.extend(ids(&page));
            let Some(next) = page["nextPageToken"].as_str() else {
                break;
            };
            let next = format!("{all}&maxResults=1&pageToken={next}");
            page = service.list(&next).await;
        }
        assert_eq!(forth, wanted, "{list}");
        let back = page["prevPageToken"].as_str().unwrap();
        let larger = service.list(&format!("{all}&maxResults=50&pageToken={back}")).await;
        assert_eq!(ids(&larger), wanted[..wanted.len() - 1], "{list}");
        assert_eq!(larger.get("prevPageToken"), None);
        let back = service.list(&format!("{all}&maxResults=1&pageToken={back}")).await;
        assert_eq!(ids(&back), wanted[wanted.len() - 2..wanted.len() - 1]);
        let none = service.list(&format!("{all}&maxResults=0")).await;
        assert_eq!((ids(&none).len(), none.get("nextPageToken")), (0, None));
        let foreign = format!(
            "/youtube/v3/{list}?part=id&id=x&pageToken={}",
            back["nextPageToken"].as_str().unwrap()
        );
        assert_eq!(service.ask("GET", &foreign, "ALICE", "").await.status, 400);
    }
}

#[tokio::test]
async fn a_previous_page_ends_where_the_page_after_it_began_whatever_its_size() {
    let each = |of: fn(usize) -> Value| (0..6).map(of).collect::<Vec<_>>();
    let seed = json!({
        "accounts": [{"id": "alice", "tokens": [{"token": "ALICE", "scopes": ["youtube", "youtube.force-ssl"]}],
            "channel": {"id": "UCx", "title": "Alice"}}],
        "videos": each(|at| json!({"id": format!("v{at}"), "owner": "alice", "snippet": {"title": format!("Film {at}")}})),
        "playlists": [
            {"id": "PLx", "owner": "alice", "snippet": {"title": "Long"}, "items": each(|at| json!(format!("v{at}")))},
            {"id": "PLy", "owner": "alice", "snippet": {"title": "Same"}, "items": each(|_| json!("v0"))}],
        "ratings": each(|at| json!({"account": "alice", "video": format!("v{at}"), "rating": "like"})),
        "comments": each(|at| json!({"id": format!("c{at}"), "author": "alice", "video": "v0", "textOriginal": "t"})),
    });
    let service = Service::seeded(&seed.to_string()).await;
    for list in [
        "playlistItems?part=id&playlistId=PLx",
        "playlistItems?part=id&playlistId=PLy&videoId=v0",
        "playlistItems?part=id&playlistId=UUx",
        "playlistItems?part=id&playlistId=LL",
        "videos?part=id&chart=mostPopular",
        "videos?part=id&myRating=like",
        "search?part=id&type=video",
        "search?part=id&type=video&q=film&order=title",
        "activities?part=id&mine=true",
    ] {
        let first = service.list(&format!("/{list}&maxResults=2")).await;
        let token = |page: &Value, name: &str| page[name].as_str().unwrap().to_owned();
        let next = token(&first, "nextPageToken");
        let second = service.list(&format!("/{list}&maxResults=2&pageToken={next}")).await;
        let previous = token(&second, "prevPageToken");
        let back = service.list(&format!("/{list}&maxResults=5&pageToken={previous}")).await;
        assert_eq!(back["items"], first["items"], "{list}");
        assert_eq!(back.get("prevPageToken"), None, "{list}");
        let next = token(&back, "nextPageToken");
        let again = service.list(&format!("/{list}&maxResults=2&pageToken={next}")).await;
        assert_eq!(again["items"], second["items"], "{list}");
    }
}

#[tokio::test]
async fn comments_by_id_are_whole_whatever_the_request_says_of_pages() {
    let service = Service::new().await;
    let mut made = Vec::new();
    for _ in 0..25 {
        let text = json!({"snippet": {"textOriginal": "text"}});
        let body = json!({"snippet": {"videoId": "v", "topLevelComment": text}}).to_string();
        let target = "/youtube/v3/commentThreads?part=snippet";
        let answer = service.ask("POST", target, "BOB", &body).await;
        made.push(answer.json()["id"].as_str().unwrap().to_owned());
    }
    for list in ["commentThreads", "comments"] {
        let all = format!("/{list}?part=id&id={}", made.join(","));
        for size in ["", "&maxResults=1", "&maxResults=100"] {
            let whole = service.list(&format!("{all}{size}")).await;
            assert_eq!(ids(&whole), made, "{list} {size}");
            assert_eq!(whole["pageInfo"]["totalResults"], made.len(), "{list} {size}");
            assert_eq!(whole.get("nextPageToken"), None, "{list} {size}: a page that nobody gets");
        }
        let target = format!("/youtube/v3{all}&pageToken=CAUQAA");
        let answer = service.ask("GET", &target, "BOB", "").await;
        assert_eq!((answer.status, answer.reason()), (400, "incompatibleParameters".into()));
    }
}

#[tokio::test]
async fn whoever_deletes_a_page_and_goes_on_to_the_next_leaves_nothing_out() {
    let service = Service::new().await;
    for at in 0..11 {
        let video = ["v", "w"][at % 2];
        let snippet =
            json!({"playlistId": "PL", "resourceId": {"kind": "youtube#video", "videoId": video}});
        let body = json!({"snippet": snippet}).to_string();
        let target = "/youtube/v3/playlistItems?part=snippet";
        assert_eq!(service.ask("POST", target, "ALICE", &body).await.status, 200);
    }
    for filter in ["playlistId=PL&videoId=w", "playlistId=PL"] {
        let list = format!("/playlistItems?part=id&maxResults=2&{filter}");
        let whole = service.list(&list.replace("maxResults=2", "maxResults=50")).await;
        let (mut seen, mut page) = (Vec::new(), service.list(&list).await);
        loop {
            for id in ids(&page) {
                let target = format!("/youtube/v3/playlistItems?id={id}");
                assert_eq!(service.ask("DELETE", &target, "ALICE", "").await.status, 204);
                seen.push(id);
            }
            let Some(next) = page["nextPageToken"].as_str() else {
                break;
            };
            page = service.list(&format!("{list}&pageToken={next}")).await;
        }
        assert_eq!(seen, ids(&whole), "{filter}");
    }
}

#[tokio::test]
async fn an_item_of_the_likes_is_not_deleted_under_a_stale_etag() {
    let service = Service::new().await;
    let rate = "/youtube/v3/videos/rate?id=v&rating=like";
    service.ask("POST", rate, "ALICE", "").await;
    let likes = service.list("/playlistItems?part=id&playlistId=LL").await;
    let (id, etag) = (&likes["items"][0]["id"], &likes["items"][0]["etag"]);
    let target = format!("/youtube/v3/playlistItems?id={}", id.as_str().unwrap());
    for (etag, status) in [("stale", 412), (etag.as_str().unwrap(), 204)] {
        let headers = [("if-match", etag)];
        let answer = service.ask_with("DELETE", &target, "ALICE", &headers, b"").await;
        assert_eq!(answer.status, status);
    }
}

#[tokio::test]
async fn the_items_of_a_video_are_found_in_every_kind_of_list_and_a_video_that_is_none_is_told() {
    let service = Service::new().await;
    let rate = "/youtube/v3/videos/rate?id=v&rating=like";
    service.ask("POST", rate, "ALICE", "").await;
    for list in ["HL", "HL", "WL"] {
        let body = json!({"snippet": {"playlistId": list, "resourceId": {"kind": "youtube#video", "videoId": "v"}}});
        let target = "/youtube/v3/playlistItems?part=snippet";
        let answer = service.ask("POST", target, "ALICE", &body.to_string()).await;
        assert_eq!(answer.status, 200, "{list}: {}", answer.json());
    }
    for (list, count) in [("HL", 2), ("LL", 1), ("WL", 1), ("UUx", 1), ("PLx", 1), ("PL", 0)] {
        let target =
            format!("/playlistItems?part=snippet&playlistId={list}&maxResults=1&videoId=v");
        let mut page = service.list(&target).await;
        assert_eq!(page["pageInfo"]["totalResults"], count, "{list}");
        let mut found = page["items"].as_array().unwrap().len();
        while let Some(next) = page["nextPageToken"].as_str() {
            page = service.list(&format!("{target}&pageToken={next}")).await;
            found += page["items"].as_array().unwrap().len();
        }
        assert_eq!(found, count, "{list}");
        let none = format!("/youtube/v3{}", target.replace("videoId=v", "videoId=none"));
        let answer = service.ask("GET", &none, "ALICE", "").await;
        let told = (answer.status, answer.reason());
        assert_eq!(told, (404, "videoNotFound".into()), "{list}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_told_with_the_place_that_names_it() {
    let service = Service::new().await;
    for (target, reason, place) in [
        ("/playlists?part=id&channelId=UCnone", "channelNotFound", "channelId"),
        ("/playlistItems?part=id&playlistId=PLnone", "playlistNotFound", "playlistId"),
        ("/playlistItems?part=id&playlistId=PL&videoId=none", "videoNotFound", "videoId"),
    ] {
        let answer = service.ask("GET", &format!("/youtube/v3{target}"), "ALICE", "").await;
        let error = &answer.json()["error"]["errors"][0];
        let told = (answer.status, error["reason"].as_str(), error["location"].as_str());
        assert_eq!(told, (404, Some(reason), Some(place)), "{target}");
    }
}

#[tokio::test]
async fn a_chart_of_a_region_leaves_out_what_is_closed_there_and_its_pages_are_full() {
    let mut seed: Value = serde_json::from_str(SEED).unwrap();
    let videos = seed["videos"].as_array_mut().unwrap();
    for (number, regions) in [
        (0, json!({"blocked": ["DE", "FR"]})),
        (1, json!({"allowed": ["US"]})),
        (2, json!({"allowed": ["DE", "US"]})),
        (3, Value::Null),
    ] {
        let mut video = json!({"id": format!("r{number}"), "owner": "alice",
            "snippet": {"title": "R", "categoryId": "22"}});
        if !regions.is_null() {
            video["contentDetails"] = json!({"regionRestriction": regions});
        }
        videos.push(video);
    }
    let service = Service::seeded(&seed.to_string()).await;
    for (region, wanted) in [
        ("", vec!["r0", "r1", "r2", "r3", "v"]),
        ("&regionCode=US", vec!["r0", "r1", "r2", "r3", "v"]),
        ("&regionCode=DE", vec!["r2", "r3", "v"]),
        ("&regionCode=FR", vec!["r3", "v"]),
        ("&regionCode=JP", vec!["r0", "r3", "v"]),
    ] {
        let chart = format!("/videos?part=id&chart=mostPopular&videoCategoryId=22{region}");
        let whole = service.list(&chart).await;
        let mut all = ids(&whole);
        all.sort_unstable();
        assert_eq!(all, wanted, "{region}");
        assert_eq!(whole["pageInfo"]["totalResults"], wanted.len(), "{region}");
        let first = service.list(&format!("{chart}&maxResults=2")).await;
        assert_eq!(ids(&first), ids(&whole)[..2], "{region}");
        let Some(next) = first["nextPageToken"].as_str() else {
            assert_eq!(wanted.len(), 2, "{region}");
            continue;
        };
        let second = format!("{chart}&maxResults=2&pageToken={next}");
        let second = ids(&service.list(&second).await);
        assert_eq!(second, ids(&whole)[2..wanted.len().min(4)], "{region}");
    }
}

#[tokio::test]
async fn a_search_shows_titles_as_text_within_html_and_the_beginning_of_a_description() {
    let title = "Tom & Jerry's \"best\"";
    let description = format!("One\n\ntwo's &{}", " words".repeat(60));
    let seed = json!({
        "projects": [{"id": "demo", "apiKeys": ["KEY"]}],
        "accounts": [{"id": "a", "tokens": [{"token": "ALICE", "scopes": ["youtube"]}], "channel": {"id": "UCa", "title": title}}],
        "videos": [{"id": "v", "owner": "a", "snippet": {"title": title, "categoryId": "22", "description": description}}],
        "playlists": [{"id": "PLa", "owner": "a", "snippet": {"title": title, "description": "Short\ntext"}, "items": ["v"]}],
    });
    let service = Service::seeded(&seed.to_string()).await;
    let found = service.list("/search?part=snippet&q=tom&maxResults=50").await;
    let items = found["items"].as_array().unwrap();
    assert_eq!(items.len(), 3, "{found}");
    for item in items {
        let snippet = &item["snippet"];
        for name in ["title", "channelTitle"] {
            assert_eq!(snippet[name], "Tom &amp; Jerry&#39;s &quot;best&quot;", "{item}");
        }
        let sizes: Vec<_> = snippet["thumbnails"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(sizes, ["default", "high", "medium"], "{item}");
        assert!(snippet["publishTime"].is_null(), "the interface does not name it: {item}");
        let description = match item["id"]["kind"].as_str().unwrap() {
            "youtube#video" => format!("One two's &{} ...", " words".repeat(24)),
            "youtube#playlist" => "Short text".to_owned(),
            _ => String::new(),
        };
        assert_eq!(snippet["description"], description);
    }
    let whole = service.list("/videos?part=snippet&id=v").await;
    let snippet = &whole["items"][0]["snippet"];
    assert_eq!((&snippet["title"], &snippet["description"]), (&json!(title), &json!(description)));
}
