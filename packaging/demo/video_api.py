"""A real MP4 goes up in resumable chunks with google-api-python-client, and is found by everybody."""

import io
import os
import pathlib
import sys

from google.oauth2.credentials import Credentials
from googleapiclient.discovery import build
from googleapiclient.http import MediaIoBaseUpload

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/video"))
from movie import mp4  # noqa: E402

url = os.environ["TRIPTYCH_VIDEO_URL"] + "/$discovery/rest?version={apiVersion}"
service = {"static_discovery": False, "discoveryServiceUrl": url}
alice = build("youtube", "v3", credentials=Credentials(os.environ["TRIPTYCH_VIDEO_TOKEN"]), **service)
anyone = build("youtube", "v3", developerKey=os.environ["TRIPTYCH_VIDEO_API_KEY"], **service)

media = MediaIoBaseUpload(io.BytesIO(mp4(payload=600_000)), "video/mp4", chunksize=256 * 1024, resumable=True)
body = {"snippet": {"title": "First light", "categoryId": "22"}, "status": {"privacyStatus": "public"}}
video = alice.videos().insert(part="snippet,status", body=body, media_body=media).execute()
print(f"uploaded an MP4 as video {video['id']}")
(found,) = anyone.videos().list(part="snippet,contentDetails", id=video["id"]).execute()["items"]
details = found["contentDetails"]
print(f"found \"{found['snippet']['title']}\", {details['duration']} long, in {details['definition']}")
if (found["snippet"]["title"], details["duration"]) != ("First light", "PT12S"):
    raise SystemExit("that is not the video that was uploaded")
