// The client of Go, unmodified: it writes, uploads, pages, and is told why it is refused.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/oauth2"
	"google.golang.org/api/googleapi"
	"google.golang.org/api/option"
	"google.golang.org/api/youtube/v3"
)

var part = []string{"snippet", "status"}

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func expect(step string, holds bool, seen ...any) {
	if !holds {
		fmt.Fprintln(os.Stderr, step, seen)
		os.Exit(1)
	}
	fmt.Println("ok", step)
}

func video(title string) *youtube.Video {
	return &youtube.Video{Snippet: &youtube.VideoSnippet{Title: title, CategoryId: "22"}}
}

func main() {
	ctx := context.Background()
	token := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: os.Getenv("TRIPTYCH_VIDEO_TOKEN")})
	endpoint := option.WithEndpoint(os.Getenv("TRIPTYCH_VIDEO_URL") + "/")
	api := must(youtube.NewService(ctx, endpoint, option.WithTokenSource(token)))

	list := &youtube.Playlist{Snippet: &youtube.PlaylistSnippet{Title: "Go's"}}
	list = must(api.Playlists.Insert(part, list).Do())
	expect("writes", list.Snippet.Title == "Go's", list)

	film := must(os.ReadFile(os.Args[1]))
	whole := must(api.Videos.Insert(part, video("Whole")).
		Media(strings.NewReader(string(film)), googleapi.ContentType("video/mp4"), googleapi.ChunkSize(0)).Do())
	expect("uploads at once", whole.Snippet.Title == "Whole" && whole.Status.UploadStatus == "uploaded", whole)

	pieces := must(api.Videos.Insert(part, video("Pieces")).
		Media(strings.NewReader(string(film)), googleapi.ContentType("video/mp4"), googleapi.ChunkSize(256*1024)).Do())
	details := must(api.Videos.List([]string{"fileDetails"}).Id(pieces.Id).Do())
	expect("uploads in pieces", details.Items[0].FileDetails.FileSize == uint64(len(film)), details)

	for range [3]int{} {
		item := &youtube.PlaylistItem{Snippet: &youtube.PlaylistItemSnippet{
			PlaylistId: list.Id, ResourceId: &youtube.ResourceId{Kind: "youtube#video", VideoId: pieces.Id}}}
		must(api.PlaylistItems.Insert(part, item).Do())
	}
	pages, items := 0, 0
	err := api.PlaylistItems.List(part).PlaylistId(list.Id).MaxResults(2).Pages(ctx,
		func(page *youtube.PlaylistItemListResponse) error {
			pages, items = pages+1, items+len(page.Items)
			return nil
		})
	expect("pages", err == nil && pages == 2 && items == 3, err, pages, items)

	list.Snippet.Title = ""
	_, err = api.Playlists.Update(part, list).Do()
	var refusal *googleapi.Error
	expect("is told why", errors.As(err, &refusal) && refusal.Errors[0].Reason == "playlistTitleRequired", err)
}
