//! The end of each sequence: an account is closed, and the other one is shown what is left.

use serde_json::{Value, json};

use super::{ACCOUNTS, CHANNELS, Model, World};

impl Model {
    /// Closes the account of `who`; what is removed in steps is still in the store afterwards.
    pub(super) async fn close(&mut self, world: &World, who: usize) {
        let body = json!({"account": ACCOUNTS[who]}).to_string();
        let told = world.service.control("POST", "/_ops/accounts/close", &body).await;
        assert_eq!(told.status, 200, "{}", told.json());
        self.gone = Some(who);
        for (at, video) in
            self.videos.iter_mut().enumerate().filter(|(_, video)| video.owner == who)
        {
            video.is_there = false;
            self.talk.forget(at);
            self.audience.forget(at);
        }
        let videos = &self.videos;
        self.ratings.retain(|(by, video), _| *by != who && videos[*video].is_there);
        self.talk.leave(who);
        self.audience.leave(who);
        // Playlists are Alice's.
        if who == 0 {
            self.playlists.clear();
            self.items.clear();
        }
    }

    pub(super) fn is_open(&self, who: usize) -> bool {
        self.gone != Some(who)
    }

    /// Whoever has an account.
    pub(super) fn people(&self) -> impl Iterator<Item = usize> {
        let gone = self.gone;
        (0..2).filter(move |who| gone != Some(*who))
    }

    /// Whoever looks at what is of `who` from outside; oneself, where the other one is gone.
    pub(super) fn other(&self, who: usize) -> usize {
        if self.is_open(1 - who) { 1 - who } else { who }
    }

    /// Checks whether nothing of an account that was closed is found, and what it said elsewhere names nobody.
    pub(super) async fn check_closed(&self, world: &World) {
        let Some(gone) = self.gone else {
            return;
        };
        let (own, _) = world.ask("GET", "/channels?part=id&mine=true", gone, &Value::Null).await;
        assert_eq!(own, 403);
        let channel = CHANNELS[gone];
        let uploads = channel.replacen("UC", "UU", 1);
        for (target, status) in [
            (format!("/playlistItems?part=id&playlistId={uploads}"), 404),
            (format!("/playlists?part=id&channelId={channel}"), 403),
            (format!("/activities?part=id&channelId={channel}"), 403),
            (format!("/commentThreads?part=id&channelId={channel}"), 403),
            (format!("/channels?part=id&id={channel}"), 200),
            (format!("/playlists?part=id&id={uploads}"), 200),
        ] {
            let (told, found) = world.ask("GET", &target, 1 - gone, &Value::Null).await;
            let count = found["pageInfo"]["totalResults"].as_u64().unwrap_or_default();
            assert_eq!((told, count), (status, 0), "{target}: {found}");
        }
        for id in self.talk.left_by(gone) {
            let target = format!("/comments?part=snippet&id={id}");
            let (_, found) = world.ask("GET", &target, 1 - gone, &Value::Null).await;
            let snippet = &found["items"][0]["snippet"];
            assert_eq!(snippet["authorDisplayName"], "", "{found}");
            assert_eq!(snippet.get("authorChannelId"), None, "{found}");
        }
    }
}
