import { useEffect, useRef, useState } from 'preact/hooks';
import { CopyButton } from '../components/copy-button.tsx';
import { announce } from '../components/states.tsx';
import type { Endpoint } from '../wire.ts';
import { firstCall } from './call-fields.ts';
import { type AskedOffer, askedOffers, type SentAnswer } from './call-offers.ts';
import { curlText } from './call-snippets.ts';

/** Sends the request once, from a sandboxed frame without key or cookies, and shows what the endpoint asks for. Nothing is paid. */
export function TryCall({ endpoint }: { readonly endpoint: Endpoint }) {
  const { method } = endpoint;
  const first = firstCall(endpoint);
  const [url, setUrl] = useState(first.url);
  const [body, setBody] = useState(first.body);
  const { answer, isSending, send, frame } = useSender();
  const isHttp = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  return (
    <div class="panel call-panel">
      <h3>Try it</h3>
      <p class="muted small call-needs">
        Sends this request from your browser, without a key, cookies or a payment, and shows what it asks for.
        The endpoint sees your address.
      </p>
      <form
        class="call-form"
        onSubmit={(event) => {
          event.preventDefault();
          send({ url, method, body });
        }}
      >
        <label>
          <span>{method} address</span>
          <input
            class="mono"
            type="text"
            inputMode="url"
            value={url}
            required
            spellcheck={false}
            onInput={({ currentTarget }) => setUrl(currentTarget.value)}
          />
        </label>
        {body === null ? null : (
          <label>
            <span>Body, JSON</span>
            <textarea
              class="mono"
              rows={3}
              value={body}
              spellcheck={false}
              onInput={({ currentTarget }) => setBody(currentTarget.value)}
            />
          </label>
        )}
        <div class="row">
          <button type="submit" class="button primary" disabled={isSending || !isHttp}>
            {isSending ? 'Sending' : 'Send without paying'}
          </button>
          {isHttp ? null : <span class="small">Only http and https addresses can be called.</span>}
        </div>
      </form>
      {frame}
      {answer === null ? null : (
        <AnswerOf answer={answer} endpoint={endpoint} curl={curlText({ method, url, body })} />
      )}
    </div>
  );
}

interface AnswerProps {
  readonly answer: SentAnswer;
  readonly endpoint: Endpoint;
  readonly curl: string;
}

function AnswerOf({ answer, endpoint, curl }: AnswerProps) {
  if ('failed' in answer)
    return (
      <div class="call-answer">
        <p>
          {answer.failed === 'timeout'
            ? 'There was no answer within 20 seconds.'
            : 'The browser got no answer that it may show. Most often the server does not allow calls from other sites (CORS); it may also be down. A program can still call it:'}
        </p>
        <CurlLine text={curl} />
      </div>
    );
  if (answer.status !== 402)
    return (
      <p class="call-answer">
        It answered {answer.status}
        {answer.status < 300 ? ' without asking for a payment.' : ' and did not say what a call costs.'}
      </p>
    );
  const offers = askedOffers(answer, endpoint);
  if (offers === null)
    return (
      <div class="call-answer">
        <p>
          It answered 402 Payment Required, but does not let other sites read its offers. A program can read
          them:
        </p>
        <CurlLine text={curl} />
      </div>
    );
  return (
    <div class="call-answer">
      <p>
        It answered 402 Payment Required. It takes{' '}
        {offers.length === 1 ? 'this payment' : 'one of these payments'}:
      </p>
      <ul>
        {offers.map((offer) => (
          <li key={JSON.stringify(offer)}>
            <OfferWords offer={offer} />
          </li>
        ))}
      </ul>
    </div>
  );
}

const PAYEE_WORDS: Readonly<Record<AskedOffer['payee'], string>> = {
  observed: 'the payee that its listings name, and that we saw paid for it',
  listed: 'a payee that its listings name; we have not seen it paid for this',
  other: 'a payee that no listing of it names: check it before you pay',
};

function OfferWords({ offer: { amount, scheme, network, payTo, payee } }: { readonly offer: AskedOffer }) {
  return (
    <>
      <strong>
        {scheme === 'upto' ? 'up to ' : ''}
        {amount}
      </strong>{' '}
      on {network} to <span class="mono call-payee">{payTo}</span>, {PAYEE_WORDS[payee]}.
    </>
  );
}

function CurlLine({ text }: { readonly text: string }) {
  return (
    <div class="call-line">
      {/* A scrolled region must be reachable by keys. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: as above */}
      <pre class="call-text" tabIndex={0}>
        {text}
      </pre>
      <CopyButton text={text} what="curl command" label="Copy" />
    </div>
  );
}

interface SentRequest {
  readonly url: string;
  readonly method: string;
  readonly body: string | null;
}

const SENDER = '/console/frame/sender';

/** The frame is loaded by the first click, and asked once for each. */
function useSender() {
  const [request, setRequest] = useState<SentRequest | null>(null);
  const [answer, setAnswer] = useState<SentAnswer | null>(null);
  const [turn, setTurn] = useState(0);
  const frame = useRef<HTMLIFrameElement>(null);
  useEffect(() => {
    if (request === null) return;
    const onMessage = ({ source, data }: MessageEvent<SentAnswer | { readonly ready: true }>): void => {
      const target = frame.current?.contentWindow;
      if (source === null || source !== target) return;
      // Its origin is opaque, so that none can be named; it is the frame that this page made.
      if ('ready' in data) {
        target.postMessage(request, '*');
        return;
      }
      setRequest(null);
      setAnswer(data);
      announce('The answer of the endpoint has arrived');
    };
    addEventListener('message', onMessage);
    return () => removeEventListener('message', onMessage);
  }, [request]);
  return {
    answer,
    isSending: request !== null,
    send: (next: SentRequest) => {
      setAnswer(null);
      setTurn(turn + 1);
      setRequest(next);
    },
    frame:
      request === null ? null : (
        <iframe
          key={turn}
          ref={frame}
          src={SENDER}
          sandbox="allow-scripts"
          title="Sends the request"
          hidden
        />
      ),
  };
}
