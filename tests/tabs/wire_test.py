"""The wire as any language sees it: every operation of the schema by POST, one order on the WebSocket, resume, and refusals."""

import asyncio
import json
import os
import random
import unittest
import urllib.error
import urllib.request

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

URL = os.environ["TRIPTYCH_TABS_URL"]
CONTROL = os.environ["TRIPTYCH_TABS_CONTROL_TOKEN"]
SEED = {
    "extensions": [
        {
            "manifest": {
                "manifest_version": 3,
                "name": "Wire",
                "version": "1.0",
                "permissions": ["tabs", "tabGroups", "activeTab"],
                "host_permissions": ["<all_urls>"],
            }
        }
    ]
}


def ask(method, path, token, body=None, headers=None):
    """Status and JSON of one request."""
    fields = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", **(headers or {})}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(URL + path, data=data, method=method, headers=fields)
    try:
        with urllib.request.urlopen(request, timeout=60) as reply:
            return reply.status, json.load(reply)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


class Wire(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        status, made = ask("POST", "/v1/control/profiles", CONTROL, SEED)
        self.assertEqual(status, 201, made)
        self.profile, self.token = made["name"], made["extensions"][0]["token"]
        self.addCleanup(ask, "DELETE", f"/v1/control/profiles/{self.profile}", CONTROL)

    def call(self, operation, *arguments):
        return ask("POST", "/v1/" + operation.replace(".", "/"), self.token, list(arguments))

    def result(self, operation, *arguments):
        status, reply = self.call(operation, *arguments)
        self.assertEqual(status, 200, reply)
        return reply.get("result")

    def loaded(self, *ids):
        """Returns once these tabs show their pages."""
        while any(self.result("tabs.get", tab)["status"] == "loading" for tab in ids):
            pass

    def socket(self, query=""):
        address = URL.replace("http", "ws", 1) + f"/v1/ws{query}"
        return connect(address, additional_headers={"Authorization": f"Bearer {self.token}"})

    async def until(self, socket, fits):
        """The frames up to one that fits."""
        frames = []
        async with asyncio.timeout(60):
            while True:
                frames.append(json.loads(await socket.recv()))
                if fits(frames[-1]):
                    return frames

    def test_the_schema_names_23_operations_and_10_events_of_tabs(self):
        _, schema = ask("GET", "/v1/schema", self.token)
        names = [row["name"] for row in schema["operations"] if row["name"].startswith("tabs.")]
        self.assertEqual(len(names), 23)
        self.assertEqual(len([name for name in schema["events"] if name.startswith("tabs.")]), 10)
        constants = schema["constants"]["tabs"]
        self.assertEqual(
            {name: value for name, value in constants.items() if isinstance(value, int)},
            {"MAX_CAPTURE_VISIBLE_TAB_CALLS_PER_SECOND": 2, "SPLIT_VIEW_ID_NONE": -1, "TAB_ID_NONE": -1, "TAB_INDEX_NONE": -1},
        )
        self.assertEqual(
            {name: sorted(value.values()) for name, value in constants.items() if not isinstance(value, int)},
            {
                "MutedInfoReason": ["capture", "extension", "user"],
                "TabStatus": ["complete", "loading", "unloaded"],
                "WindowType": ["app", "custom-tab", "devtools", "normal", "panel", "popup"],
                "ZoomSettingsMode": ["automatic", "disabled", "manual"],
                "ZoomSettingsScope": ["per-origin", "per-tab"],
            },
        )

    def test_every_operation_of_the_schema_checks_its_arguments_by_its_own_signature(self):
        _, schema = ask("GET", "/v1/schema", self.token)
        for row in schema["operations"]:
            status, reply = self.call(row["name"], "a", "b", "c", "d", "e", "f")
            self.assertEqual(status, 400, row["name"])
            self.assertEqual(reply["error"]["name"], "TypeError")
            expected = f"Error in invocation of {row['name']}({row['signature']}): No matching signature."
            self.assertEqual(reply["error"]["message"], expected)

    def test_the_23_operations_work_by_post_but_for_the_one_that_opens_a_port(self):
        first = self.result("tabs.query", {})[0]["id"]
        tab = self.result("tabs.create", {"url": "https://a.test/", "active": True})
        other = self.result("tabs.create", {"url": "https://b.test/", "active": False})
        ids = [tab["id"], other["id"]]
        self.loaded(*ids)
        self.assertEqual(self.result("tabs.get", ids[0])["id"], ids[0])
        self.assertIsNone(self.result("tabs.getCurrent"))
        self.assertIs(self.result("tabs.update", ids[0], {"pinned": True})["pinned"], True)
        self.result("tabs.update", ids[0], {"pinned": False})
        self.assertEqual(self.result("tabs.move", ids[1], {"index": 0})["index"], 0)
        group = self.result("tabs.group", {"tabIds": ids})
        self.assertEqual(self.result("tabs.get", ids[0])["groupId"], group)
        self.result("tabs.ungroup", ids)
        self.assertEqual(len(self.result("tabs.highlight", {"tabs": [0, 1]})["tabs"]), 3)
        self.assertEqual(self.result("tabs.getZoom", ids[0]), 1)
        self.result("tabs.setZoom", ids[0], 1.5)
        self.assertEqual(self.result("tabs.getZoom", ids[0]), 1.5)
        self.result("tabs.setZoomSettings", ids[0], {"scope": "per-tab"})
        self.assertEqual(self.result("tabs.getZoomSettings", ids[0])["scope"], "per-tab")
        self.result("tabs.reload", ids[0], {"bypassCache": True})
        self.result("tabs.goBack", ids[0])
        self.result("tabs.goForward", ids[0])
        self.result("tabs.update", ids[0], {"active": True})
        self.loaded(ids[0])
        self.assertEqual(self.result("tabs.detectLanguage", ids[0]), "und")
        self.assertTrue(self.result("tabs.captureVisibleTab").startswith("data:image/jpeg;base64,"))
        copy = self.result("tabs.duplicate", ids[1])["id"]
        away = self.result("tabs.discard", first)
        self.assertTrue(away["discarded"])
        self.assertNotEqual(away["id"], first)
        status, reply = self.call("tabs.sendMessage", ids[0], {"a": 1})
        self.assertEqual(status, 422)
        self.assertEqual(
            reply["error"]["message"], "Could not establish connection. Receiving end does not exist."
        )
        status, reply = self.call("tabs.connect", ids[0], {"name": "p"})
        self.assertEqual((status, reply["error"]["name"]), (400, "NeedsPortOpen"))
        self.result("tabs.remove", [copy, *ids])
        status, reply = self.call("tabs.get", ids[0])
        self.assertEqual((status, reply["error"]["message"]), (422, f"No tab with id: {ids[0]}."))

    def test_a_body_that_is_no_arguments_is_refused(self):
        for body, status in [(b"{", 400), (b"1", 400), (b'{"x": 1}', 400), (b"\xff", 400)]:
            request = urllib.request.Request(
                URL + "/v1/tabs/get", data=body, headers={"Authorization": f"Bearer {self.token}"}
            )
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request, timeout=60)
            self.assertEqual(refused.exception.code, status, body)

    async def test_answers_and_events_come_in_one_order_and_resume_by_seq(self):
        async with self.socket() as socket:
            hello = json.loads(await socket.recv())
            self.assertEqual(hello["type"], "hello")
            for number in range(20):
                call = {"id": number, "method": "tabs.create", "params": [{"active": False}]}
                await socket.send(json.dumps(call))
            frames = await self.until(socket, lambda frame: frame.get("id") == 19)
        created = set()
        for frame in frames:
            if frame.get("name") == "tabs.onCreated":
                created.add(frame["args"][0]["id"])
            elif frame["type"] == "result":
                self.assertIn(frame["result"]["id"], created)
        places = [frame["seq"] for frame in frames]
        self.assertEqual(places, sorted(places))
        events = [frame for frame in frames if frame["type"] == "event"]
        since = events[3]["seq"]
        async with self.socket(f"?since={since}&session={hello['session']}") as socket:
            await socket.recv()
            again = await self.until(socket, lambda frame: frame["seq"] == events[-1]["seq"])
        self.assertEqual(again[: len(events) - 4], events[4:])

    def stream(self, place, until, pieces):
        """The events behind a place up to another one, as server-sent events that end after so many frames and go on where they were."""
        heard, by_header = [], False
        while place < until:
            query, fields = ("", {"Last-Event-ID": str(place)}) if by_header else (f"?since={place}", {})
            fields["Authorization"] = f"Bearer {self.token}"
            request = urllib.request.Request(f"{URL}/v1/events{query}", headers=fields)
            with urllib.request.urlopen(request, timeout=60) as lines:
                left = pieces.randint(1, 9)
                while left and place < until:
                    line = lines.readline()
                    if line.startswith(b"data: "):
                        heard.append(json.loads(line[6:]))
                        place, left = heard[-1]["seq"], left - 1
            by_header = not by_header
        return heard

    async def test_posts_sockets_and_streams_agree_on_one_sequence_wherever_they_begin_again(self):
        dice = random.Random(7)
        tabs = [self.result("tabs.query", {})[0]["id"]]
        told, seen = [], 0
        async with self.socket() as socket:
            hello = json.loads(await socket.recv())
            for number in range(60):
                tab = dice.choice(tabs)
                method, *params = dice.choice(
                    [
                        ("tabs.create", {"url": "about:blank", "active": dice.random() < 0.5}),
                        ("tabs.move", tab, {"index": dice.randint(0, 5)}),
                        ("tabs.update", tab, {"pinned": dice.random() < 0.5, "highlighted": True}),
                        ("tabs.group", {"tabIds": [tab]}),
                        ("tabs.duplicate", tab),
                    ]
                )
                if dice.random() < 0.5:
                    _, reply = await asyncio.to_thread(self.call, method, *params)
                else:
                    await socket.send(json.dumps({"id": number, "method": method, "params": params}))
                    frames = await self.until(socket, lambda frame, number=number: frame.get("id") == number)
                    told += [frame for frame in frames if frame["type"] == "event"]
                    reply = frames[-1]
                # Whoever asks, and however, is answered behind all that was told before.
                self.assertGreaterEqual(reply["seq"], seen)
                seen = reply["seq"]
                result = reply.get("result")
                if method in ("tabs.create", "tabs.duplicate") and result:
                    tabs.append(result["id"])
                    last = result["id"]
            await asyncio.to_thread(self.loaded, *tabs)
            await asyncio.to_thread(self.result, "tabs.remove", last)
            end = await self.until(socket, lambda frame: frame.get("name") == "tabs.onRemoved")
            told += [frame for frame in end if frame["type"] == "event"]
        until = told[-1]["seq"]
        self.assertEqual([frame["seq"] for frame in told], sorted({frame["seq"] for frame in told}))
        heard = await asyncio.to_thread(self.stream, hello["seq"], until, dice)
        self.assertEqual([frame for frame in heard if frame["type"] == "event"], told)
        for _ in range(5):
            at = dice.randrange(len(told) - 1)
            async with self.socket(f"?since={told[at]['seq']}&session={hello['session']}") as socket:
                await socket.recv()
                again = await self.until(socket, lambda frame: frame["seq"] == until)
            self.assertEqual(again, told[at + 1 :])

    async def test_a_place_of_another_run_is_told(self):
        for query in ["?since=99999999", "?since=0&session=7"]:
            async with self.socket(query) as socket:
                await socket.recv()
                self.assertEqual(json.loads(await socket.recv())["type"], "reset", query)

    async def test_a_frame_that_cannot_be_used_is_answered_and_the_connection_lives(self):
        async with self.socket() as socket:
            await socket.recv()
            frames = ["{", "[]", '{"id": 1}', '{"type": "fly"}', '{"id": 2, "method": "tabs.get", "params": 1}']
            for frame in [*frames, '{"type": "attach"}', '{"type": "detach", "endpoint": "x"}']:
                await socket.send(frame)
                answer = json.loads(await socket.recv())
                self.assertEqual((answer["type"], answer["error"]["name"]), ("error", "BadFrame"), frame)
            await socket.send(json.dumps({"id": 3, "method": "tabs.fly", "params": []}))
            answer = (await self.until(socket, lambda frame: frame.get("id") == 3))[-1]
            self.assertEqual(answer["error"]["message"], "chrome.tabs.fly is not a function")

    async def test_a_removed_profile_ends_its_connections_and_a_wrong_token_opens_none(self):
        async with self.socket() as socket:
            await socket.recv()
            ask("DELETE", f"/v1/control/profiles/{self.profile}", CONTROL)
            with self.assertRaises(ConnectionClosed):
                await self.until(socket, lambda frame: False)
        with self.assertRaises(InvalidStatus) as refused:
            async with self.socket():
                pass
        self.assertEqual(refused.exception.response.status_code, 401)


if __name__ == "__main__":
    unittest.main()
