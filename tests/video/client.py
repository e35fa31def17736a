"""google-api-python-client, unmodified and built from the service's own discovery document, and what its tests have in common."""

import io
import os
import pathlib
import sys

from google.oauth2.credentials import Credentials
from googleapiclient.discovery import build
from googleapiclient.errors import HttpError
from googleapiclient.http import MediaIoBaseUpload

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from movie import mp4  # noqa: E402

URL = os.environ["TRIPTYCH_VIDEO_URL"]
ALICE, BOB, CAROL = "UCaliceAliceAliceAlice0A", "UCbobBobBobBobBobBobBo0A", "UCcarolCarolCarolCaro0AA"


def service(**identity):
    discovery = URL + "/$discovery/rest?version={apiVersion}"
    return build("youtube", "v3", static_discovery=False, discoveryServiceUrl=discovery, **identity)


def bearer(token):
    return service(credentials=Credentials(token))


def anyone():
    return service(developerKey=os.environ["TRIPTYCH_VIDEO_API_KEY"])


def upload(api, title, **status):
    media = MediaIoBaseUpload(io.BytesIO(mp4()), "video/mp4")
    body = {"snippet": {"title": title, "categoryId": "22"}, "status": {"privacyStatus": "public", **status}}
    return api.videos().insert(part="snippet,status", body=body, media_body=media).execute()["id"]


def pages(resource, **query):
    """Items of all pages of a list, read to the end and, where it names previous pages, back to the first one."""
    found, request, page = [], resource.list(**query), None
    while request is not None:
        page = request.execute()
        found += page["items"]
        request = resource.list_next(request, page)
    assert page["pageInfo"]["totalResults"] == len(found), (page["pageInfo"], len(found))
    goes_back = "prevPageToken" in page or len(found) == len(page["items"])
    while "prevPageToken" in page:
        page = resource.list(**query, pageToken=page["prevPageToken"]).execute()
    if goes_back:
        assert [item["id"] for item in page["items"]] == [item["id"] for item in found[: len(page["items"])]]
    return found


def refused(request):
    """Status, reason and place of a refusal."""
    try:
        request.execute()
    except HttpError as error:
        (detail,) = error.error_details
        return error.resp.status, detail["reason"], detail.get("location")
    raise AssertionError("it was not refused")
