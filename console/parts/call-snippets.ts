/** How to call a listed endpoint, as texts to copy. Pure. Sources: x402-foundation/x402, examples of the clients `fetch` and `httpx`. */

export interface CallFacts {
  readonly method: string;
  readonly url: string;
  /** As it is shown: `$0.01`. Null where it is not known. */
  readonly price: string | null;
  /** As it is shown: `Base`. */
  readonly network: string;
  /** Null where no offer names a payee: it is not one of x402 then. */
  readonly payTo: string | null;
}

export interface Snippet {
  readonly id: 'curl' | 'typescript' | 'python' | 'agent';
  readonly title: string;
  /** What it needs, in a line. */
  readonly needs: string;
  readonly text: string;
}

/** Shows the answer with its headers: the offers of version 2 are in one of them. */
export function curlText({
  method,
  url,
  body,
}: Pick<CallFacts, 'method' | 'url'> & { readonly body: string | null }): string {
  const asked = method === 'GET' ? '' : ` -X ${method}`;
  const data = body === null ? '' : ` -H 'Content-Type: application/json' -d ${shellQuoted(body)}`;
  return `curl -i${asked} ${shellQuoted(url)}${data}`;
}

export function callSnippets(facts: CallFacts): readonly Snippet[] {
  const terms = `${facts.price ?? 'the price of its offer'} on ${facts.network}`;
  const asked: Snippet = {
    id: 'curl',
    title: 'curl',
    needs: 'Shows the offer: the answer is 402 with its terms, and nothing is paid.',
    text: curlText({ ...facts, body: null }),
  };
  if (facts.payTo === null) return [asked];
  return [
    asked,
    {
      id: 'typescript',
      title: 'TypeScript',
      needs: 'npm install @x402/fetch @x402/evm viem',
      text: typescript(facts, terms),
    },
    {
      id: 'python',
      title: 'Python',
      needs: "pip install 'x402[evm,httpx]' eth-account",
      text: python(facts, terms),
    },
    {
      id: 'agent',
      title: 'Agent',
      needs: 'A request to an agent that has a wallet, and this index as an MCP server.',
      text: `Check ${facts.payTo} with get_entity_summary of the settlement index. If it has no warnings against it, call ${facts.method} ${facts.url} over x402. It should cost ${terms}, paid to ${facts.payTo}. Do not pay more, and do not pay another address.`,
    },
  ];
}

function typescript({ method, url }: CallFacts, terms: string): string {
  const init = method === 'GET' ? '' : `, { method: ${JSON.stringify(method)} }`;
  return `import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';

const signer = privateKeyToAccount(process.env.PRIVATE_KEY);
const pay = wrapFetchWithPayment(fetch, registerExactEvmScheme(new x402Client(), { signer }));
const answer = await pay(${JSON.stringify(url)}${init}); // pays ${terms}
console.log(answer.status, await answer.text());`;
}

function python({ method, url }: CallFacts, terms: string): string {
  return `import asyncio, os
from eth_account import Account
from x402 import x402Client
from x402.http.clients import x402HttpxClient
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact.register import register_exact_evm_client

async def main():
    client = x402Client()
    register_exact_evm_client(client, EthAccountSigner(Account.from_key(os.environ["PRIVATE_KEY"])))
    async with x402HttpxClient(client) as http:
        answer = await http.request(${JSON.stringify(method)}, ${JSON.stringify(url)})  # pays ${terms}
        print(answer.status_code, (await answer.aread()).decode())

asyncio.run(main())`;
}

/** One word of a POSIX shell, whatever the listing wrote into its URL. */
function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
