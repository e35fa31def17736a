# The client of Ruby, unmodified: it writes, uploads, pages, batches, and is told why it is refused.
require 'google/apis/youtube_v3'
require 'stringio'

Youtube = Google::Apis::YoutubeV3
PART = 'snippet,status'
URL = ENV.fetch('TRIPTYCH_VIDEO_URL')

def expect(step, holds, *seen)
  abort("#{step}: #{seen.inspect}") unless holds
  puts "ok #{step}"
end

def video(title)
  Youtube::Video.new(snippet: { title: title, category_id: '22' })
end

api = Youtube::YouTubeService.new
api.root_url = "#{URL}/"
api.authorization = ENV.fetch('TRIPTYCH_VIDEO_TOKEN')

list = api.insert_playlist(PART, Youtube::Playlist.new(snippet: { title: "Ruby's" }))
expect('writes', list.snippet.title == "Ruby's", list)

film = File.binread(ARGV[0])
whole = api.insert_video(PART, video('Whole'), upload_source: StringIO.new(film), content_type: 'video/mp4')
expect('uploads at once', whole.snippet.title == 'Whole' && whole.status.upload_status == 'uploaded', whole)

# The stock client sends one piece; that the connection breaks in the middle of it is what its protocol is for.
class Breaking < StringIO
  attr_reader :broke

  def read(length = nil, buffer = nil)
    if pos >= 512 * 1024 && !@broke
      @broke = true
      raise HTTPClient::TimeoutError
    end
    buffer ? super(length, buffer) : super(length)
  end
end
source = Breaking.new(film)
pieces = api.insert_video(PART, video('Pieces'), upload_source: source, content_type: 'video/mp4',
                                                 options: { retries: 3 })
details = api.list_videos('fileDetails', id: pieces.id)
size = details.items[0].file_details.file_size
expect('uploads in pieces', source.broke && size == film.bytesize, source.broke, size)

3.times do
  resource = { kind: 'youtube#video', video_id: pieces.id }
  api.insert_playlist_item(PART, Youtube::PlaylistItem.new(snippet: { playlist_id: list.id, resource_id: resource }))
end
pages = []
items = api.fetch_all do |token|
  pages << api.list_playlist_items(PART, playlist_id: list.id, max_results: 2, page_token: token)
  pages.last
end
expect('pages', items.to_a.length == 3 && pages.length == 2, pages.length)

told = []
api.batch do |batch|
  batch.list_videos('snippet', id: whole.id) { |found, error| told << (error || found.items[0].snippet.title) }
  batch.list_videos('id', id: pieces.id, max_results: 99) { |_, error| told << error.status_code }
  batch.insert_playlist(PART, Youtube::Playlist.new(snippet: { title: 'Batched' })) { |made, error| told << (error || made.snippet.title) }
end
expect('batches', told == ['Whole', 400, 'Batched'], told)

list.snippet.title = ''
begin
  api.update_playlist(PART, list)
  abort('nothing was refused')
rescue Google::Apis::ClientError => error
  expect('is told why', error.body.include?('playlistTitleRequired'), error.body)
end
