import type { Actor, Cast, Merchant } from '../actors.ts';

/** What a merchant of the cast sells, as its card and its listings say it. */
export interface Offer {
  readonly title: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** OASF skill of its agent. */
  readonly skill: string;
  /** Paths below the merchant's resource; several share one payTo. */
  readonly paths: readonly string[];
  readonly method: 'GET' | 'POST';
  /** Atomic units of USDC. */
  readonly price: bigint;
}

const offer = (
  title: string,
  description: string,
  rest: Omit<Offer, 'title' | 'description' | 'method'> & { readonly method?: Offer['method'] },
): Offer => ({ method: 'GET', ...rest, title, description });

/** By merchant name. Words are those that sellers use, so that capabilities are found in them. */
const OFFERS: Readonly<Record<string, Offer>> = {
  'weather-now': offer('Weather Now', 'Weather forecast and current temperature for any place.', {
    tags: ['weather', 'forecast'],
    skill: 'weather_forecast',
    paths: ['/forecast', '/air-quality'],
    price: 1_000n,
  }),
  'stock-quotes': offer('Stock Quotes', 'Stock price quotes and crypto price feed, live and historical.', {
    tags: ['stock price', 'price feed'],
    skill: 'market_price',
    paths: ['/price/{symbol}', '/history/{symbol}'],
    price: 2_000n,
  }),
  'geo-lookup': offer('Geo Lookup', 'Geocoding and IP geolocation.', {
    tags: ['geocoding', 'ip lookup'],
    skill: 'geocode',
    paths: ['/geocode'],
    price: 1_000n,
  }),
  translate: offer('Translate', 'Machine translation between 90 languages.', {
    tags: ['translation'],
    skill: 'natural_language_processing/translation',
    paths: ['/translate'],
    method: 'POST',
    price: 3_000n,
  }),
  summarize: offer('Summarize', 'Summarization of long texts by a language model.', {
    tags: ['summarization', 'llm'],
    skill: 'natural_language_processing/text_summarization',
    paths: ['/summarize'],
    method: 'POST',
    price: 4_000n,
  }),
  'image-gen': offer('Image Gen', 'Image generation from text: text to image in seconds.', {
    tags: ['image generation', 'text to image'],
    skill: 'images_computer_vision/image_generation',
    paths: ['/generate', '/generate/hd'],
    method: 'POST',
    price: 9_000n,
  }),
  'vector-search': offer('Vector Search', 'Embeddings and semantic search over your documents.', {
    tags: ['embedding', 'vector search'],
    skill: 'embedding',
    paths: ['/embed', '/search'],
    method: 'POST',
    price: 1_500n,
  }),
  'web-scrape': offer('Web Scrape', 'Web scraping and web search: any page as clean text.', {
    tags: ['web scraping', 'web search'],
    skill: 'web_scraping',
    paths: ['/scrape', '/search', '/screenshot'],
    price: 5_000n,
  }),
  'news-feed': offer('News Feed', 'News headlines and articles for a topic.', {
    tags: ['news', 'headlines'],
    skill: 'news_feed',
    paths: ['/headlines'],
    price: 1_000n,
  }),
  'fx-rates': offer('FX Rates', 'Exchange rates: spot price of 160 currencies.', {
    tags: ['exchange rate', 'price feed'],
    skill: 'currency_price',
    paths: ['/rates'],
    price: 1_000n,
  }),
  ocr: offer('OCR', 'OCR and document parsing for scans and PDF.', {
    tags: ['ocr', 'pdf'],
    skill: 'ocr',
    paths: ['/read'],
    method: 'POST',
    price: 6_000n,
  }),
  speech: offer('Speech', 'Transcription: speech to text for any audio.', {
    tags: ['transcription', 'speech to text'],
    skill: 'speech_recognition',
    paths: ['/transcribe', '/speak'],
    method: 'POST',
    price: 8_000n,
  }),
  'maps-tiles': offer('Maps Tiles', 'Maps, directions and points of interest.', {
    tags: ['maps'],
    skill: 'maps',
    paths: ['/tiles/{z}/{x}/{y}'],
    price: 1_000n,
  }),
  'code-review': offer('Code Review', 'Code review by a language model, for any language.', {
    tags: ['code review'],
    skill: 'code_review',
    paths: ['/review'],
    method: 'POST',
    price: 10_000n,
  }),
  sentiment: offer('Sentiment', 'Market sentiment analysis of social media.', {
    tags: ['sentiment', 'social media'],
    skill: 'sentiment_analysis',
    paths: ['/score'],
    price: 2_500n,
  }),
  'face-blur': offer('Face Blur', 'Image editing: blurs faces and removes backgrounds.', {
    tags: ['image editing', 'background removal'],
    skill: 'image_editing',
    paths: ['/blur'],
    method: 'POST',
    price: 7_000n,
  }),
};

const PLAIN: Offer = offer('', 'Sells this and that.', {
  tags: [],
  skill: '',
  paths: ['/buy'],
  price: 1_000n,
});

export function offerOf({ name }: Pick<Merchant, 'name'>): Offer {
  return OFFERS[name] ?? { ...PLAIN, title: name };
}

/** The only sellers in the bazaars here: a listing makes an address a payee of the catalogue. */
export function listedSellers({ merchants }: Cast): readonly (Actor & { readonly resource: string })[] {
  return merchants.filter(({ catalogued }) => catalogued);
}
