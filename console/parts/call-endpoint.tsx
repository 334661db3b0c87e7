import { useState } from 'preact/hooks';
import { CopyButton } from '../components/copy-button.tsx';
import { chainText, moneyText } from '../format.ts';
import type { Endpoint } from '../wire.ts';
import { CallInputs } from './call-inputs.tsx';
import { callSnippets } from './call-snippets.ts';
import { TryCall } from './call-try.tsx';

/** How to call an endpoint and pay for it. The texts hold claims of its listing, so nothing is sent before a click. */
export function CallEndpoint({ endpoint }: { readonly endpoint: Endpoint }) {
  const [shown, setShown] = useState('curl');
  const { method, resource, price_usd: price, network, pay_to: payTo } = endpoint;
  const snippets = callSnippets({
    method,
    url: resource,
    price: price === null ? null : moneyText(price),
    network: chainText(network),
    payTo,
  });
  const snippet = snippets.find(({ id }) => id === shown) ?? snippets[0];
  if (snippet === undefined) return null;
  return (
    <section class="call-section" aria-labelledby="call-title">
      <h2 id="call-title">How to call it</h2>
      <div class="panel call-panel">
        <div class="row call-head">
          <nav class="segmented" aria-label="Language">
            {snippets.map(({ id, title }) => (
              <button key={id} type="button" aria-pressed={id === snippet.id} onClick={() => setShown(id)}>
                {title}
              </button>
            ))}
          </nav>
          <CopyButton text={snippet.text} what={`${snippet.title} text`} label="Copy" />
        </div>
        <p class="muted small call-needs">{snippet.needs}</p>
        {/* A scrolled region must be reachable by keys. */}
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: as above */}
        <pre class="call-text" tabIndex={0}>
          {snippet.text}
        </pre>
      </div>
      {endpoint.call === null ? null : <CallInputs call={endpoint.call} />}
      <TryCall endpoint={endpoint} />
    </section>
  );
}
