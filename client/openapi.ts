// Written by `npm run gen` from the declarations in src/operations. Changes here are lost.

export interface paths {
    "/account": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who the caller is, which lane applies, and what every route costs
         * @description Needs no key and costs nothing. A caller without a key gets the full price list; an unknown key is answered too, with `key_recognised: false`. `tier` is the plan of the organization behind a key; a key whose organization cannot be read has the lowest plan’s until it can. Free, no key needed.
         */
        get: operations["getAccount"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/flows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Newest settlements across every indexed chain, payer to payee
         * @description Settlements, newest first, with the display names of payer, payee and facilitator where they are known. Walk older pages by sending `next_before` back as `before`. Any key at 0 QU, or 0.001 USD per call over x402.
         */
        get: operations["listFlows"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/transactions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Every indexed settlement, newest first, filterable by x402 confidence
         * @description Every indexed settlement. `chain`, `facilitator`, `tier` and `finality` select rows; `min_probability` and `exclude_self_payments` filter a page after it was read, so a page can be short or empty while more rows remain: keep following `next_before` until it is null. Any key at 0 QU, or 0.001 USD per call over x402.
         */
        get: operations["listTransactions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/entities/{wallet}/settlements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Settlements where a wallet is a party, newest first
         * @description Settlements that the wallet paid or was paid. A payment of the wallet to itself appears once. A wallet that the index never saw has an empty list: never paid, not yet indexed, or not on a covered chain. Any key at 0 QU, or 0.001 USD per call over x402.
         */
        get: operations["listEntitySettlements"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/wallets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Every wallet of a chain, or of all chains, by address
         * @description Wallets that paid or were paid, highest address first; send `next_before` back as `before` for the next ones. The order does not change while the index grows: a walk meets every wallet that was there all the time exactly once, and one that appears meanwhile if its address is still to come. `role`, `chain` and `finality` select settlements: a row is about those alone, and a wallet without any is not listed. Without `chain` these are the settlements of the default chain; `all` lists every wallet. Any key at 0 QU, or 0.001 USD per call over x402.
         */
        get: operations["listWallets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/facilitators": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Relayers per chain, busiest first, with what their accounts hold
         * @description Every address that sent settlements, one row for each chain, by number of settlements, then chain and address; of the default chain unless `chain` names another or `all`. `facilitator` is who the catalogue says is behind it. `nonce`, `gas_balance` and `enriched_at` are there when the account was read from the chain: the busiest relayers and all named ones, every few minutes. Fields without a value are left out. Pages are cut from one ranking that is renewed at most every ten seconds (`meta.ranked_at`): pages of one ranking fit together; from one ranking to the next a relayer can move across a page boundary. Any key at 0 QU, or 0.001 USD per call over x402.
         */
        get: operations["listFacilitators"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/merchants/{address}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What a wallet was paid, and what the figures are worth
         * @description Exact totals of a wallet in both directions, judged as a payee: by chain, by day, with the share that is proven, what is left without self-payments, and signals against wash trading. On one chain unless `chain` is `all`. An unknown wallet is an answer with `coverage.known` false. Figures that come from part of the settlements say so in `basis`. Any key at 0 QU, or 0.001 USD per call over x402.
         */
        get: operations["getMerchant"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents/{wallet}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What a wallet paid, and what the figures are worth
         * @description The same answer as a merchant profile, judged as a payer: signals are about the wallets that it pays. Any wallet has one; `erc8004_agents` are the agents that pay and are paid with it. An agent is found by its id on `/agents`. Any key at 0 QU, or 0.001 USD per call over x402.
         */
        get: operations["getAgent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * ERC-8004 agents of a chain, newest registration first, by words, owner or capability
         * @description Agents as their registry, their card and the feedback about them say, by chain and agent_id, highest first; send `next_before` back as `before` for the next ones. A walk meets every agent that was there and matched all the time exactly once; one that registers meanwhile has a higher id than the page you are on. Filters may be changed along a walk. Names, descriptions, services and domains are claims of whoever owns the agent, made safe to show. Without `chain` these are agents of the default chain. Any key at 0 QU, or 0.001 USD per call over x402.
         */
        get: operations["listAgents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/leaderboard": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * ERC-8004 agents by what clients rated them, best first
         * @description Agents by score, highest first, then by chain and agent_id; of the default chain unless `chain` names another or `all`. A score is made of ratings from 0 to 100 alone, drawn to the middle by few clients; measures under other tags (uptime, response times, revenues) rank nothing and are in `tag_scores`. Rating costs only gas: `by=paid` ranks by `paid_score`, of ratings whose file proves that the client paid the agent. Agents without a score count as spam and are left out unless `include_spam` puts them last. Pages are cut from a ranking that is renewed at most every ten seconds, deep ones less often (`meta.ranked_at`): rank, the score that ranks and the figures of its ratings are of then, the rest of the row is of now. Pages of one ranking fit together; from one ranking to the next an agent can move across a page boundary, and an agent whose registration a reorg took back is missing from its page. Any key at 0 QU, or 0.001 USD per call over x402.
         */
        get: operations["getLeaderboard"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/attestations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * ERC-8004 feedback, responses, revocations and validations, newest first
         * @description What the reputation and validation registries have logged about agents, newest first; send `next_before` back as `before` for older ones, also after a page that is shorter than `limit`. Filters may be changed along a walk. Anybody may write any of this: values are on the scale of their tag (`is_rating`, `tag_score`), and tags, endpoints and files are claims, made safe to show. `proof_of_payment` is the payment that the file of a feedback names, held against the settlements of this index. Without `chain` these are attestations of the default chain. Any key at 0 QU, or 0.001 USD per call over x402.
         */
        get: operations["listAttestations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/graph": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who pays whom: wallets and the sums between them
         * @description Settlements added up by payer and payee, over the newest `window` settlements or the last `days` whole UTC days (exactly one of the two), for everybody or around one `wallet`, on the default chain unless `chain` names another or `all`. Payments of a wallet to itself are in no edge and no node; `meta.excluded` counts them. Node figures are those of the edges shown, so the sum of `window_usd` over all nodes is exactly twice the sum of `usd` over all edges, also when `complete` is false; `meta.warnings` then says what was left out. 1 QU with an organization key, or 0.005 USD per call over x402.
         */
        get: operations["getGraph"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/capabilities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The jobs that services offer, and how many offer them
         * @description Every capability of the catalogue, whether somebody offers it or not, in the order of the catalogue. Which listing or agent offers what is decided by a published rule (docs/capabilities.md) over what it says of itself. `fields=compact` leaves out all but slug, name and provider_count. The counts are renewed at most twice a minute. Free, no key needed.
         */
        get: operations["listCapabilities"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/capabilities/{slug}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who offers one job, at what price, and what they were really paid
         * @description The listed resources that offer a capability, most paid first: price, pay_to and what was observed as in /endpoints (whose filter `capability` lists them all). `going_rate` are the quartiles of what they cost now, each by its headline offer; contested resources of which no claimant was paid or is published by the domain are left out; null when no price is known. `agents` are ERC-8004 agents whose card speaks of it, most rated first. Everything but what was observed is what listings and cards say. Any key at 0 QU, or 0.001 USD per call over x402.
         */
        get: operations["getCapability"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/endpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Priced directory of services, most paid first, with what was observed of each offer
         * @description Resources that facilitators (bazaar discovery), sellers (/.well-known/x402) and the catalogue file list, one row for each resource and HTTP method, by payments observed of its headline offer in the last 30 days, then by resource and method. `amount` is in atomic units of the asset, `price_usd` in dollars: the price that is signed where the asset is a known dollar token, else the price that the seller declares. Everything but `observed` and `payee_observed` is what listings say. `pay_to`, `price_usd` and `observed` are those of one offer; where listings disagree about who is to be paid, `contested` is true and `claimants` names them all, with those first that the resource’s own domain publishes. A source that cannot be read keeps what it listed; `meta.sources` says how each answered last, and the warning `endpoints_catalog_stale` that some of it may be outdated. What was observed is counted anew every few minutes. Free, no key needed.
         */
        get: operations["listEndpoints"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/telemetry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Health of the index: freshness, ingest rate and faults per chain
         * @description Per chain: how far the index is, what ingest is doing and what went wrong; how much of time the rollups do not answer for yet; how far agents, their cards and the files of feedback are; and whose SQL is run now. While the engine does not answer, `engine.status` says so, and the rest is what was read of it last. `status` is degraded while it does not answer, and while a chain has not started, does not answer, has stopped, or is more than 120 seconds behind. Free, no key needed.
         */
        get: operations["getTelemetry"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sql/schema": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What SQL may read: tables, columns, functions and limits
         * @description Without parameters the public tables in one line each, the limits, and example queries. `table` gives a table with every column and its meaning, the predicates that are cheap, about how many rows there are, and an example; `functions` gives allowed functions by name (aggregate functions also have combinators such as `sumIf`). `table=*&functions=*` gives everything: about 40 kB. Free, no key needed.
         */
        get: operations["getSqlSchema"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sql": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run a SQL query over the public tables
         * @description The whole SELECT language of ClickHouse over the tables that `GET /v0/sql/schema` lists, and nothing else. The query is judged before it runs: `invalid_query` says what and where, and costs nothing. `max_qu` is what it may cost and bounds its time: these units are held, and those for the engine time used are charged. `truncated` says when a cap cut the answer. Closing the connection stops the query. 1 QU per started 5 seconds of engine time, at least 1, at most `max_qu` of the body, which is the maximum of the tier where it is left out; over x402 0.01 USD for each unit of `max_qu` in the tier standard, and with the scheme `upto` only for those used. `explain_only` is free.
         */
        post: operations["runSql"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/test/x402": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Buy a trial key over x402
         * @description One settlement buys one key, which opens every route that takes any key. The key is shown once; with an `Idempotency-Key` of at least 16 characters that nobody else can guess, the same request with the same payment shows the same key again. 0.01 USD over x402; a key cannot buy it.
         */
        get: operations["mintTrialKey"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Whether the process lives
         * @description For the platform’s liveness check. Asks nothing else.
         */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Whether the engine answers and its tables exist
         * @description For the platform’s readiness check. A verdict is kept for half a second.
         */
        get: operations["getReadiness"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * This document
         * @description The description of the API, OpenAPI 3.1.
         */
        get: operations["getOpenApi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/oauth-protected-resource": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Who issues access tokens for this deployment
         * @description Metadata of OAuth for the deployment as a whole; that of the MCP surface stands below it, at `/mcp`. 404 where no access tokens are accepted.
         */
        get: operations["getProtectedResource"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/x402": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What is sold here over x402
         * @description Every priced route with its terms, for crawlers of payable APIs. What a 402 says counts. 404 where no calls are sold.
         */
        get: operations["getOfferList"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        AccountSqlTier: {
            tier: string;
            timeout_seconds: number;
            /** @description The most that a call can cost, and what is held for it without `max_qu`. */
            max_qu: number;
            requests_per_minute: number;
            /** @description Whether this caller’s plan may buy the tier. */
            allowed: boolean;
            /** @description Whether this deployment can serve the tier at all. */
            available: boolean;
            note: string | null;
        };
        /** @enum {string} */
        AccountTier: "anonymous" | "trial" | "oauth" | "free" | "pro" | "enterprise";
        /** @description Lower-case address. */
        Address: string;
        AdvertisedPrice: {
            /** @enum {string} */
            mode: "fixed" | "dynamic";
            /** @constant */
            currency: "USD";
            /** @description Of a fixed price. */
            amount?: string;
            /** @description Of a dynamic price. */
            min?: string;
            /** @description Dollars. */
            max?: string;
            /** @description Dollars. */
            per_unit?: string;
            /** @description What one unit buys. */
            unit?: string;
        };
        Agent: {
            chain: components["schemas"]["Chain"];
            /** @description Token id in the identity registry of the chain; a decimal string, ids start at 0. */
            agent_id: string;
            owner: components["schemas"]["Address"];
            /** @description Address that it pays and is paid with; null when it was cleared. */
            wallet: components["schemas"]["Address"] | null;
            /** @description As the card claims, made safe to show; null without a card. Not its name where `name_imitates` says whose it looks like, or where `domain_proof` is refuted: settlements then do not show it. */
            name: string | null;
            /** @description Id of the named facilitator whose name this one is, or looks like, while the wallet is none of its relayers; null otherwise. */
            name_imitates: string | null;
            description: string | null;
            /** @description https or ipfs URL. An image that the card itself holds (data:) is not carried. */
            image: string | null;
            /** @description Where the card is. A data: URI is the card itself: of one longer than 256 characters the start is shown, and …; SQL has all of it. Invisible characters are percent-encoded. */
            agent_uri: string | null;
            services: components["schemas"]["AgentService"][];
            /** @description Slugs of /capabilities, by a published rule. */
            capabilities: string[];
            supported_trust: string[];
            /** @description Whether the card declares x402. */
            x402_support: boolean;
            /** @description Whether the card says that the agent is in service; null without a card. */
            active: boolean | null;
            /** @description Ratings from 0 to 100 that were not revoked, each client once by the mean of his, as if 5 clients more had given 50; null without a rating. Ratings are feedback without a tag1 or with one of starred, quality, rating, score, and a value from 0 to 100. Feedback under other tags is on other scales: see tag_scores. */
            score: number | null;
            /** @description Mean of the clients’ mean ratings, which `score` is drawn to the middle from. */
            rating_mean: number | null;
            /** @description Ratings that `score` is of. */
            rating_count: number;
            /** @description Different addresses that gave these ratings. */
            rating_clients: number;
            /** @description `score` of the ratings whose file proves a payment: a settlement of this index from the client to a present or past owner or wallet of the agent. Looked up again at least hourly; null without any. */
            paid_score: number | null;
            /** @description Ratings that `paid_score` is of. */
            paid_rating_count: number;
            /** @description Different addresses that gave these. */
            paid_rating_clients: number;
            /** @description By tag1, each on its own scale, those that most clients gave first; at most 16. */
            tag_scores: components["schemas"]["TagScore"][];
            /** @description Feedback of any tag that was not revoked. */
            feedback_count: number;
            /** @description Different addresses that gave it. */
            distinct_clients: number;
            registered_at: components["schemas"]["Timestamp"];
            /** @description Newest of its registration, its changes, feedback about it and settlements of its wallet on any indexed chain; a settlement that a reorg took back counts too. */
            last_activity_at: components["schemas"]["Timestamp"];
            /**
             * @description active: its wallet settled within 30 days. idle: it settled before. unseen: it never did.
             * @enum {string}
             */
            activity_status: "active" | "idle" | "unseen";
            card: components["schemas"]["AgentCard"];
            /** @description Domain that the card claims, to be believed when `domain_proof` is proven. */
            domain: string | null;
            /**
             * @description Whether the domain itself names the agent in /.well-known/agent-registration.json.
             * @enum {string}
             */
            domain_proof: "unchecked" | "proven" | "refuted" | "unreachable";
        };
        AgentCard: {
            /** @enum {string} */
            status: "none" | "good" | "failed";
            /** @description Why the newest try gave no card; the last good one is shown meanwhile. */
            problem: string | null;
            fetched_at: components["schemas"]["Timestamp"] | null;
        };
        AgentService: {
            /** @description web, A2A, MCP, OASF, …, as the card spells it. */
            name: string;
            endpoint: string;
            version: string;
            skills: string[];
            domains: string[];
        };
        Attestation: {
            chain: components["schemas"]["Chain"];
            /** @description Token id in the identity registry of the chain; a decimal string, ids start at 0. */
            agent_id: string;
            /** @description As its card claims, made safe to show. */
            agent_name: string | null;
            kind: components["schemas"]["AttestationKind"];
            /** @description Who wrote it: of feedback and revocations the client, of responses the responder, of validations the validator who was asked. */
            author: components["schemas"]["Address"];
            /** @description Who gave the feedback that it is, answers or revokes; null for validations. */
            client: components["schemas"]["Address"] | null;
            /** @description Which feedback of this client about this agent, from 1; null for validations. */
            feedback_index: string | null;
            /** @description Of feedback: the value given, on the scale of its tag. Of a validation_response: 0 to 100. Else null. */
            value: number | null;
            /** @description The integer that was logged; `value` is it with `value_decimals` decimals, as a double. */
            value_raw: string | null;
            value_decimals: number | null;
            tag1: string | null;
            tag2: string | null;
            /** @description Of feedback: whether it is a rating from 0 to 100, by tag1 and value, and so part of the agent’s `score` unless revoked. Else null. */
            is_rating: boolean | null;
            /** @description Of feedback: what all clients said of the agent under this tag1; null where the tag is not among those that most gave. Else null. */
            tag_score: components["schemas"]["TagScore"] | null;
            endpoint: string | null;
            /** @description Where its file is: at most 2048 characters, of a data: URI 256, then …; SQL has all of it. */
            uri: string | null;
            /** @description keccak-256 of the file as logged; null when none was given. */
            file_hash: string | null;
            /** @description Of validations: which request it is, or answers. */
            request_hash: string | null;
            /** @description Of feedback: whether its client has revoked it since. Else null. */
            revoked: boolean | null;
            /** @description What came of fetching the file of feedback; null where it names none, and for other kinds. */
            file: components["schemas"]["FeedbackFile"] | null;
            /** @description The payment that the file names, held against the settlements now; null where it names none. */
            proof_of_payment: components["schemas"]["ProofOfPayment"] | null;
            block_number: number;
            block_time: components["schemas"]["Timestamp"];
            tx_hash: string;
            log_index: number;
            finality: components["schemas"]["Finality"];
        };
        /** @enum {string} */
        AttestationKind: "feedback" | "response" | "revocation" | "validation_request" | "validation_response";
        Backfill: {
            blocks_done: number;
            blocks_total: number;
            /** @description Null when there is nothing to backfill. */
            percent: number | null;
            /** @description At the present rate; null while there is none. */
            eta_seconds: number | null;
        };
        BazaarInfo: {
            input: components["schemas"]["BazaarInput"];
        };
        BazaarInput: {
            /** @constant */
            type: "http";
            /** @enum {string} */
            method: "GET" | "POST";
        };
        BazaarListing: {
            info: components["schemas"]["BazaarInfo"];
        };
        Capability: {
            /** @description Stable name, for /capabilities/{slug}. */
            slug: string;
            name: string;
            group: string;
            /** @description What one price usually buys; no listing is bound to it. */
            unit: string;
            summary: string;
            /** @description Different payTo addresses with a listed resource that offers it. */
            provider_count: number;
            /** @description Listed resources that offer it. */
            endpoint_count: number;
            /** @description Active ERC-8004 agents whose card speaks of it. */
            agent_count: number;
        };
        CapabilityAgent: {
            chain: components["schemas"]["Chain"];
            /** @description Token id in the identity registry of the chain; a decimal string, ids start at 0. */
            agent_id: string;
            name: string | null;
            wallet: components["schemas"]["Address"] | null;
            x402_support: boolean;
            /** @description Ratings from 0 to 100 that were not revoked, each client once by the mean of his, as if 5 clients more had given 50; null without a rating. Ratings are feedback without a tag1 or with one of starred, quality, rating, score, and a value from 0 to 100. Feedback under other tags is on other scales: see tag_scores. */
            score: number | null;
            feedback_count: number;
        };
        CapabilityListMeta: {
            as_of: components["schemas"]["Timestamp"];
        };
        CapabilityMeta: {
            as_of: components["schemas"]["Timestamp"];
            /** @description `index_lagging`: A served chain is more than 120 seconds behind, or its node does not answer. `index_not_started`: A served chain has not reported any indexed block yet. `backfill_in_progress`: Older blocks of a served chain are still being indexed. `finality_unknown`: Only final settlements were asked for, and a served chain has not stated a final block: it contributes none. `graph_edges_cut`: More pairs of wallets paid each other than max_edges shows: the largest are shown. `endpoints_catalog_stale`: Part of the endpoint directory may be outdated: a source was not read to its end lately, or none ever was. `no_agent_on_this_page_has_a_score`: No agent on this page has the score that it is ranked by: no rating of it stands, or none proves a payment. `graph_scan_capped`: The window holds more settlements than one graph may read: the newest were read. */
            warnings?: components["schemas"]["Warning"][];
        };
        CapabilitySummary: {
            /** @description Stable name, for /capabilities/{slug}. */
            slug: string;
            name: string;
            /** @description Different payTo addresses with a listed resource that offers it. */
            provider_count: number;
            group?: string;
            /** @description What one price usually buys; no listing is bound to it. */
            unit?: string;
            summary?: string;
            /** @description Listed resources that offer it. */
            endpoint_count?: number;
            /** @description Active ERC-8004 agents whose card speaks of it. */
            agent_count?: number;
        };
        CardTelemetry: {
            good: number;
            /** @description Agents whose newest try gave no card; the last good one is kept. */
            failed: number;
            /** @description Agents that were not tried, or have no URI to try. */
            none: number;
            /** @description To be tried now. */
            due: number;
            /** @description Why, by number of files. */
            problems: components["schemas"]["ProblemCount"][];
        };
        /** @description CAIP-2 name of the chain. */
        Chain: string;
        ChainFlows: {
            chain: components["schemas"]["Chain"];
            inbound_usd: components["schemas"]["Usd"];
            inbound_count: number;
            outbound_usd: components["schemas"]["Usd"];
            outbound_count: number;
        };
        ChainFreshness: {
            chain: components["schemas"]["Chain"];
            indexed_block: number | null;
            /** Format: date-time */
            indexed_at: string | null;
            head_block: number | null;
            finalized_block: number | null;
            lag_seconds: number | null;
        };
        ChainIdentities: {
            chain: components["schemas"]["Chain"];
            agents: number;
            /** @description Agents that something was written about since their row was derived. */
            agents_due: number;
            /** @description Feedback, responses, revocations and validations. */
            attestations: number;
            cards: components["schemas"]["CardTelemetry"];
            feedback_files: components["schemas"]["FeedbackFileTelemetry"];
        };
        ChainTelemetry: {
            chain: components["schemas"]["Chain"];
            indexed_block: number | null;
            /** Format: date-time */
            indexed_at: string | null;
            head_block: number | null;
            finalized_block: number | null;
            lag_seconds: number | null;
            /** @description starting, backfilling, following, unreachable, stopped; imported for a chain that is read from no node; or not_started before the first report. */
            state: string;
            /** @description Rows up to this block are sample data, made for a demonstration, and not payments of the chain; null: every row is of the chain. */
            sample_data_to: number | null;
            /** @description Whether the chain’s RPC provider answers, in words. */
            provider: string;
            backfill: components["schemas"]["Backfill"];
            rows_per_second: number;
            blocks_per_second: number;
            rows_written: number;
            reorgs: number;
            deepest_reorg: number;
            retries: number;
            /** @description Answers of a provider that contradicted the chain. */
            contradictions: number;
            /** @description Logs that could not become a settlement. */
            dead_letters: number;
            /** @description Short code. */
            last_error: string | null;
            /** Format: date-time */
            last_written_at: string | null;
            /** Format: date-time */
            reported_at: string | null;
        };
        /** @description Query Units that were charged although the call failed. */
        ChargedUnits: {
            units_held: number;
            units_charged: number;
            /** @description What the organization has left; null where the call was paid for over x402. */
            balance: number | null;
        };
        DailyFlows: {
            /**
             * Format: date
             * @description UTC day.
             */
            date: string;
            inbound_usd: components["schemas"]["Usd"];
            inbound_count: number;
            outbound_usd: components["schemas"]["Usd"];
            outbound_count: number;
        };
        DataQuality: {
            verdict: components["schemas"]["Verdict"];
            note: string;
            signals: components["schemas"]["Signal"][];
        };
        Endpoint: {
            /** @description URL of the resource. */
            resource: string;
            /** @description HTTP method; GET where the listing does not say. */
            method: string;
            service_name: string | null;
            description: string | null;
            mime_type: string | null;
            /** @description Ways to pay, cheapest first. */
            accepts: components["schemas"]["EndpointOffer"][];
            /** @description Dollars, rounded up to a millionth; null when it is not known. */
            price_usd: number | null;
            /** @description Of the headline offer, as are `network`, `price_usd` and `observed`: the one that the domain itself publishes, else the one that most payers paid, else of a contested resource the one listed first, else the cheapest. */
            pay_to: string;
            network: string;
            /** @description Whether /.well-known/x402 of the resource’s own origin publishes the headline offer. */
            published_by_domain: boolean;
            /** @description Whether listings of this resource, under any method, name more than one address to be paid on the same kind of network. */
            contested: boolean;
            /** @description Every address that a listing of this resource names, published ones first, then the most paid. */
            claimants: components["schemas"]["EndpointClaimant"][];
            tags: string[];
            /** @description Slugs of `/capabilities`, by a documented rule. */
            capabilities: string[];
            /**
             * Format: date-time
             * @description As the listing says; null when it does not.
             */
            last_updated: string | null;
            observed: components["schemas"]["ObservedActivity"];
            payee_observed: components["schemas"]["PayeeActivity"];
            /** @description Whether other listed resources are paid at `pay_to` too, at whatever price. */
            shared_pay_to: boolean;
            /** @description Whether nobody who lists it has answered well of late: it may be outdated. */
            stale: boolean;
        };
        EndpointClaimant: {
            pay_to: string;
            /** @description Whether /.well-known/x402 of the resource’s own origin says so. */
            published_by_domain: boolean;
            /** @description Of the most paid of its offers for this resource. */
            settlement_count_30d: number;
            listed_since: components["schemas"]["Timestamp"];
            networks: string[];
            /** @description Who lists it, entries of `meta.sources`. */
            sources: string[];
        };
        EndpointListMeta: {
            /** @description The chain served; null when the answer spans every chain in `freshness`. */
            chain: string | null;
            as_of: components["schemas"]["Timestamp"];
            freshness: components["schemas"]["Freshness"];
            /**
             * Format: date-time
             * @description When the listed table was last written for the chain that was asked; null: never.
             */
            dataset_last_written_at?: string | null;
            /** @description Rows of the listed table on the chain that was asked, before any other filter. */
            dataset_row_count?: number;
            /** @description `index_lagging`: A served chain is more than 120 seconds behind, or its node does not answer. `index_not_started`: A served chain has not reported any indexed block yet. `backfill_in_progress`: Older blocks of a served chain are still being indexed. `finality_unknown`: Only final settlements were asked for, and a served chain has not stated a final block: it contributes none. `graph_edges_cut`: More pairs of wallets paid each other than max_edges shows: the largest are shown. `endpoints_catalog_stale`: Part of the endpoint directory may be outdated: a source was not read to its end lately, or none ever was. `no_agent_on_this_page_has_a_score`: No agent on this page has the score that it is ranked by: no rating of it stands, or none proves a payment. `graph_scan_capped`: The window holds more settlements than one graph may read: the newest were read. */
            warnings?: components["schemas"]["Warning"][];
            /** @description Who lists endpoints, and how each answered last. */
            sources: components["schemas"]["EndpointSource"][];
        };
        EndpointOffer: {
            scheme: string;
            /** @description As published: a version 1 name or CAIP-2. */
            network: string;
            /** @description CAIP-2 of the EVM chain; null for another network. */
            chain: string | null;
            asset: string;
            /** @description Atomic units of the asset, a ceiling where the scheme is `upto`; null when it is not published. */
            amount: string | null;
            /** @description Dollars, rounded up to a millionth; null when it is not known. */
            price_usd: number | null;
            pay_to: string;
            /** @description Who lists it, an entry of `meta.sources`. */
            source: string;
            /** @description How long the offer stands; 0 when it is not published. */
            max_timeout_seconds: number;
            /** @description Payments observed on the terms of this offer, counted as in `observed`. */
            settlement_count_30d: number;
        };
        EndpointSource: {
            source: string;
            /** @enum {string} */
            kind: "bazaar" | "well_known" | "file";
            /** @description Null for the catalogue file. */
            host: string | null;
            /** @description Offers that its last reading saw. */
            offers: number;
            tried_at: components["schemas"]["Timestamp"];
            /**
             * Format: date-time
             * @description Its last reading to the end; null without one.
             */
            good_at: string | null;
            /** @description Why the last reading failed; null when it was good. */
            problem: string | null;
            stale: boolean;
        };
        EngineHealth: {
            /**
             * @description ok: it answers; starting: it has not answered everything yet since this process started: it starts, or its tables are being made; unreachable: it answered before and does not now: it restarts, or cannot be reached; overloaded: it answers, but refused part of what telemetry asks, or took too long.
             * @enum {string}
             */
            status: "ok" | "starting" | "unreachable" | "overloaded";
            uptime_seconds: number | null;
            /**
             * Format: date-time
             * @description When it answered last; what this answer says of the index is no newer. Null before the first time.
             */
            answered_at: string | null;
        };
        /** @enum {string} */
        ErrorCode: "invalid_parameter" | "malformed_request" | "invalid_query" | "query_failed" | "invalid_api_key" | "api_key_required" | "payment_required" | "payment_malformed" | "payment_invalid" | "payment_failed" | "insufficient_qu" | "forbidden_origin" | "upgrade_required" | "payment_in_progress" | "request_in_progress" | "reply_not_kept" | "idempotency_conflict" | "key_already_issued" | "not_found" | "method_not_allowed" | "request_timeout" | "payload_too_large" | "uri_too_long" | "unsupported_media_type" | "rate_limited" | "headers_too_large" | "internal_error" | "key_issue_failed" | "settlement_unknown" | "overloaded" | "upstream_unavailable";
        Evidence: {
            /** @description true: a named facilitator relayed it. false: examined, no EIP-3009 marker. null: not established, which is not disproven. */
            verified: boolean | null;
            method: components["schemas"]["EvidenceMethod"];
            /** @description Null when not examined, else one of 1, 0.9, 0.7, 0.3, 0.1, 0.05, 0. */
            probability: number | null;
            tier: components["schemas"]["EvidenceTier"];
            /** @description What was seen, machine-readable. */
            reasons: components["schemas"]["EvidenceReason"][];
        };
        /** @enum {string} */
        EvidenceMethod: "facilitator_relay" | "builder_code" | "catalogued_payee" | "gasless_authorization" | "self_relayed" | "bare_transfer" | "channel_deposit" | "not_examined";
        /** @enum {string} */
        EvidenceReason: "authorization_used" | "permit2_settled" | "direct_call" | "routed_call" | "third_party_relay" | "relayed_by_payer" | "relayed_by_payee" | "receive_with_authorization" | "builder_code" | "x402_contract" | "payee_catalogued" | "relayer_named" | "no_marker" | "self_payment" | "channel_deposit";
        /** @enum {string} */
        EvidenceTier: "proven" | "probable" | "unproven" | "not_x402" | "ungraded";
        FacilitatorListMeta: {
            /** @description The chain served; null when the answer spans every chain in `freshness`. */
            chain: string | null;
            as_of: components["schemas"]["Timestamp"];
            freshness: components["schemas"]["Freshness"];
            /**
             * Format: date-time
             * @description When the listed table was last written for the chain that was asked; null: never.
             */
            dataset_last_written_at?: string | null;
            /** @description Rows of the listed table on the chain that was asked, before any other filter. */
            dataset_row_count?: number;
            /** @description `index_lagging`: A served chain is more than 120 seconds behind, or its node does not answer. `index_not_started`: A served chain has not reported any indexed block yet. `backfill_in_progress`: Older blocks of a served chain are still being indexed. `finality_unknown`: Only final settlements were asked for, and a served chain has not stated a final block: it contributes none. `graph_edges_cut`: More pairs of wallets paid each other than max_edges shows: the largest are shown. `endpoints_catalog_stale`: Part of the endpoint directory may be outdated: a source was not read to its end lately, or none ever was. `no_agent_on_this_page_has_a_score`: No agent on this page has the score that it is ranked by: no rating of it stands, or none proves a payment. `graph_scan_capped`: The window holds more settlements than one graph may read: the newest were read. */
            warnings?: components["schemas"]["Warning"][];
            ranked_at: components["schemas"]["Timestamp"];
            basis: components["schemas"]["RelayerBasis"];
        };
        FeedbackFile: {
            /**
             * @description new: not tried yet. good: it was read. failed: the newest try; it is tried again.
             * @enum {string}
             */
            status: "new" | "good" | "failed";
            /** @description Why the newest try failed; of a good file `other_agent` or `other_client` when it is about somebody else than its log. */
            problem: string | null;
            /** @description Whether it has the hash that was logged; null when it was not read, or none was logged. */
            hash_matches: boolean | null;
        };
        FeedbackFileTelemetry: {
            good: number;
            failed: number;
            /** @description Not tried yet. */
            new: number;
            /** @description To be tried now. */
            due: number;
            /** @description Why, by number of files. */
            problems: components["schemas"]["ProblemCount"][];
        };
        /**
         * @description head: a reorg can still undo it.
         * @enum {string}
         */
        Finality: "head" | "finalized";
        /** @description Per chain: newest indexed block and its time, newest block known, newest final block, and how far behind the index is. At the tip, lag_seconds counts from the last look at the tip. */
        Freshness: {
            chains: components["schemas"]["ChainFreshness"][];
        };
        GetAccountAnswer: {
            authenticated: boolean;
            key_present: boolean;
            key_recognised: boolean | null;
            tier: components["schemas"]["AccountTier"];
            plan: string | null;
            lane: components["schemas"]["Lane"];
            organisation: components["schemas"]["Organisation"] | null;
            balance: components["schemas"]["UnitBalance"] | null;
            /** @description Present only when balance is null: which nothing it is. */
            balance_note?: string;
            metered_routes: components["schemas"]["RoutePrice"][];
            /** @description One QU per started 5 seconds, at least one. `max_qu` of the body buys less than the tier's maximum. */
            sql_tiers: components["schemas"]["AccountSqlTier"][];
            top_up_url: string;
            as_of: components["schemas"]["Timestamp"];
            summary: string;
        };
        GetCapabilityAnswer: {
            capability: components["schemas"]["Capability"];
            going_rate: components["schemas"]["GoingRate"] | null;
            offers: components["schemas"]["Endpoint"][];
            /** @description Listed resources that offer it; `offers` are the first ones. */
            offers_total: number;
            /** @description At most 20. */
            agents: components["schemas"]["CapabilityAgent"][];
            meta: components["schemas"]["CapabilityMeta"];
        };
        GetGraphAnswer: {
            applied: components["schemas"]["GraphApplied"];
            /** @description False when edges or part of the window were left out. */
            complete: boolean;
            /** @description Whole days covered; null for the window form. */
            days: number | null;
            /**
             * Format: date-time
             * @description Start of the first day; in the window form the oldest settlement counted, null without one.
             */
            since: string | null;
            /**
             * Format: date-time
             * @description End of the last day, excluded; in the window form the newest settlement counted.
             */
            until: string | null;
            /** @description Largest window_usd first. */
            nodes: components["schemas"]["GraphNode"][];
            /** @description Largest usd first. */
            edges: components["schemas"]["GraphEdge"][];
            meta: components["schemas"]["GraphMeta"];
        };
        GetLeaderboardAnswer: {
            leaderboard: components["schemas"]["RankedAgent"][];
            /** @description Where the next page starts, to send as `offset`; null at the end of the list. */
            next_offset: number | null;
            meta: components["schemas"]["LeaderboardMeta"];
        };
        GetSqlSchemaAnswer: {
            /** @description Absent where only functions were asked for. */
            tables?: components["schemas"]["SqlTable"][];
            /** @description By name; only where `functions` asks for them. */
            functions?: string[];
            /** @description How many functions match; of a search the first 100 are shown. */
            functions_total?: number;
            /** @description With `limits` and `examples` where the list of tables is given: without `table`, or with `*`. */
            table_functions?: string[];
            limits?: components["schemas"]["SqlLimits"];
            examples?: components["schemas"]["SqlExample"][];
            meta: components["schemas"]["Meta"];
        };
        GetTelemetryAnswer: {
            /** @enum {string} */
            status: "ok" | "degraded";
            version: string;
            uptime_seconds: number;
            engine: components["schemas"]["EngineHealth"];
            sql: components["schemas"]["SqlTelemetry"];
            /** @description Every chain that is served; empty until the engine has answered once. */
            chains: components["schemas"]["ChainTelemetry"][];
            rollups: components["schemas"]["RollupTelemetry"] | null;
            /** @description ERC-8004 registries and the endpoint catalogue; counted at most every half minute. */
            identities: components["schemas"]["IdentityTelemetry"] | null;
            /** @description `index_lagging`: A served chain is more than 120 seconds behind, or its node does not answer. `index_not_started`: A served chain has not reported any indexed block yet. `backfill_in_progress`: Older blocks of a served chain are still being indexed. `finality_unknown`: Only final settlements were asked for, and a served chain has not stated a final block: it contributes none. `graph_edges_cut`: More pairs of wallets paid each other than max_edges shows: the largest are shown. `endpoints_catalog_stale`: Part of the endpoint directory may be outdated: a source was not read to its end lately, or none ever was. `no_agent_on_this_page_has_a_score`: No agent on this page has the score that it is ranked by: no rating of it stands, or none proves a payment. `graph_scan_capped`: The window holds more settlements than one graph may read: the newest were read. */
            warnings: components["schemas"]["Warning"][];
            as_of: components["schemas"]["Timestamp"];
        };
        GoingRate: {
            p25_usd: components["schemas"]["Usd"];
            p50_usd: components["schemas"]["Usd"];
            p75_usd: components["schemas"]["Usd"];
            /** @description Resources with a known price above zero that the quartiles are of. */
            offers: number;
        };
        /** @description The question as it was understood: which form, and every value in effect. */
        GraphApplied: {
            /** @enum {string} */
            form: "window" | "days";
            window: number | null;
            days: number | null;
            wallet: string | null;
            /** @description Null for all chains. */
            chain: string | null;
            /** @enum {string} */
            finality: "finalized" | "any";
            max_edges: number;
        };
        GraphEdge: {
            payer: components["schemas"]["Address"];
            payee: components["schemas"]["Address"];
            usd: components["schemas"]["Usd"];
            count: number;
            first_seen: components["schemas"]["Timestamp"];
            last_seen: components["schemas"]["Timestamp"];
        };
        /** @description Payments of wallets to themselves within the window: in no edge and no node. */
        GraphExcluded: {
            self_payments: number;
            self_payment_usd: components["schemas"]["Usd"];
        };
        GraphMeta: {
            /** @description The chain served; null when the answer spans every chain in `freshness`. */
            chain: string | null;
            as_of: components["schemas"]["Timestamp"];
            freshness: components["schemas"]["Freshness"];
            /**
             * Format: date-time
             * @description When the listed table was last written for the chain that was asked; null: never.
             */
            dataset_last_written_at?: string | null;
            /** @description Rows of the listed table on the chain that was asked, before any other filter. */
            dataset_row_count?: number;
            /** @description `index_lagging`: A served chain is more than 120 seconds behind, or its node does not answer. `index_not_started`: A served chain has not reported any indexed block yet. `backfill_in_progress`: Older blocks of a served chain are still being indexed. `finality_unknown`: Only final settlements were asked for, and a served chain has not stated a final block: it contributes none. `graph_edges_cut`: More pairs of wallets paid each other than max_edges shows: the largest are shown. `endpoints_catalog_stale`: Part of the endpoint directory may be outdated: a source was not read to its end lately, or none ever was. `no_agent_on_this_page_has_a_score`: No agent on this page has the score that it is ranked by: no rating of it stands, or none proves a payment. `graph_scan_capped`: The window holds more settlements than one graph may read: the newest were read. */
            warnings?: components["schemas"]["Warning"][];
            excluded: components["schemas"]["GraphExcluded"];
        };
        GraphNode: {
            wallet: components["schemas"]["Address"];
            /** @description Null when unknown. */
            name: string | null;
            /** @description Who says the name: agent_card, endpoint_catalogue, operator_catalogue, facilitator (the card of its ERC-8004 agent, a published listing of endpoints, the configuration of this service, the table of facilitators). Null without a name. */
            name_source: components["schemas"]["NameSource"] | null;
            /** @description in_usd + out_usd. Over all nodes: exactly twice the sum of edge.usd. */
            window_usd: number;
            /** @description Settlements in and out. Over all nodes: exactly twice the sum of edge.count. */
            window_count: number;
            in_usd: components["schemas"]["Usd"];
            out_usd: components["schemas"]["Usd"];
        };
        IdentityTelemetry: {
            chains: components["schemas"]["ChainIdentities"][];
            endpoint_sources: components["schemas"]["EndpointSource"][];
            counted_at: components["schemas"]["Timestamp"];
        };
        KeySettlement: {
            transaction: string;
            network: components["schemas"]["Chain"];
            payer: components["schemas"]["Address"];
        };
        /** @enum {string} */
        Lane: "credit" | "x402" | "invalid_key" | "no_account" | "upgrade_required";
        LeaderboardMeta: {
            /** @description The chain served; null when the answer spans every chain in `freshness`. */
            chain: string | null;
            as_of: components["schemas"]["Timestamp"];
            freshness: components["schemas"]["Freshness"];
            /**
             * Format: date-time
             * @description When the listed table was last written for the chain that was asked; null: never.
             */
            dataset_last_written_at?: string | null;
            /** @description Rows of the listed table on the chain that was asked, before any other filter. */
            dataset_row_count?: number;
            /** @description `index_lagging`: A served chain is more than 120 seconds behind, or its node does not answer. `index_not_started`: A served chain has not reported any indexed block yet. `backfill_in_progress`: Older blocks of a served chain are still being indexed. `finality_unknown`: Only final settlements were asked for, and a served chain has not stated a final block: it contributes none. `graph_edges_cut`: More pairs of wallets paid each other than max_edges shows: the largest are shown. `endpoints_catalog_stale`: Part of the endpoint directory may be outdated: a source was not read to its end lately, or none ever was. `no_agent_on_this_page_has_a_score`: No agent on this page has the score that it is ranked by: no rating of it stands, or none proves a payment. `graph_scan_capped`: The window holds more settlements than one graph may read: the newest were read. */
            warnings?: components["schemas"]["Warning"][];
            /** @description Agents of this page with the score that ranks. */
            page_scored_agents: number;
            ranked_at: components["schemas"]["Timestamp"];
        };
        ListAgentsAnswer: {
            agents: components["schemas"]["Agent"][];
            /** @description Cursor of the next page, to send as `before`; null at the end of the list. */
            next_before: string | null;
            meta: components["schemas"]["ListMeta"];
        };
        ListAttestationsAnswer: {
            attestations: components["schemas"]["Attestation"][];
            /** @description Cursor of the next page, to send as `before`; null at the end of the list. */
            next_before: string | null;
            meta: components["schemas"]["ListMeta"];
        };
        ListCapabilitiesAnswer: {
            capabilities: components["schemas"]["CapabilitySummary"][];
            meta: components["schemas"]["CapabilityListMeta"];
        };
        ListEndpointsAnswer: {
            endpoints: components["schemas"]["Endpoint"][];
            /** @description Where the next page starts, to send as `offset`; null at the end of the list. */
            next_offset: number | null;
            meta: components["schemas"]["EndpointListMeta"];
        };
        ListEntitySettlementsAnswer: {
            wallet: components["schemas"]["Address"];
            settlements: components["schemas"]["NamedSettlement"][];
            /** @description Cursor of the next page, to send as `before`; null at the end of the list. */
            next_before: string | null;
            meta: components["schemas"]["SettlementListMeta"];
        };
        ListFacilitatorsAnswer: {
            facilitators: components["schemas"]["Relayer"][];
            /** @description Where the next page starts, to send as `offset`; null at the end of the list. */
            next_offset: number | null;
            meta: components["schemas"]["FacilitatorListMeta"];
        };
        ListFlowsAnswer: {
            flows: components["schemas"]["NamedSettlement"][];
            /** @description Cursor of the next page, to send as `before`; null at the end of the list. */
            next_before: string | null;
            meta: components["schemas"]["SettlementListMeta"];
        };
        ListMeta: {
            /** @description The chain served; null when the answer spans every chain in `freshness`. */
            chain: string | null;
            as_of: components["schemas"]["Timestamp"];
            freshness: components["schemas"]["Freshness"];
            /**
             * Format: date-time
             * @description When the listed table was last written for the chain that was asked; null: never.
             */
            dataset_last_written_at?: string | null;
            /** @description Rows of the listed table on the chain that was asked, before any other filter. */
            dataset_row_count?: number;
            /** @description `index_lagging`: A served chain is more than 120 seconds behind, or its node does not answer. `index_not_started`: A served chain has not reported any indexed block yet. `backfill_in_progress`: Older blocks of a served chain are still being indexed. `finality_unknown`: Only final settlements were asked for, and a served chain has not stated a final block: it contributes none. `graph_edges_cut`: More pairs of wallets paid each other than max_edges shows: the largest are shown. `endpoints_catalog_stale`: Part of the endpoint directory may be outdated: a source was not read to its end lately, or none ever was. `no_agent_on_this_page_has_a_score`: No agent on this page has the score that it is ranked by: no rating of it stands, or none proves a payment. `graph_scan_capped`: The window holds more settlements than one graph may read: the newest were read. */
            warnings?: components["schemas"]["Warning"][];
        };
        ListTransactionsAnswer: {
            transactions: components["schemas"]["Settlement"][];
            /** @description Cursor of the next page, to send as `before`; null at the end of the list. */
            next_before: string | null;
            meta: components["schemas"]["SettlementListMeta"];
        };
        ListWalletsAnswer: {
            wallets: components["schemas"]["Wallet"][];
            /** @description Cursor of the next page, to send as `before`; null at the end of the list. */
            next_before: string | null;
            meta: components["schemas"]["ListMeta"];
        };
        ListedExtensions: {
            bazaar: components["schemas"]["BazaarListing"];
        };
        ListedOffer: {
            /** @description The URL; parameters of its path in braces. */
            resource: string;
            /** @constant */
            type: "http";
            /** @constant */
            x402Version: 2;
            description: string;
            mimeType: string;
            serviceName: string;
            /** @description The terms of a call that chooses nothing of a dynamic price. */
            accepts: components["schemas"]["PaymentTerms"][];
            price: components["schemas"]["AdvertisedPrice"];
            extensions: components["schemas"]["ListedExtensions"];
        };
        Meta: {
            /** @description The chain served; null when the answer spans every chain in `freshness`. */
            chain: string | null;
            as_of: components["schemas"]["Timestamp"];
            freshness: components["schemas"]["Freshness"];
            /** @description `index_lagging`: A served chain is more than 120 seconds behind, or its node does not answer. `index_not_started`: A served chain has not reported any indexed block yet. `backfill_in_progress`: Older blocks of a served chain are still being indexed. `finality_unknown`: Only final settlements were asked for, and a served chain has not stated a final block: it contributes none. `graph_edges_cut`: More pairs of wallets paid each other than max_edges shows: the largest are shown. `endpoints_catalog_stale`: Part of the endpoint directory may be outdated: a source was not read to its end lately, or none ever was. `no_agent_on_this_page_has_a_score`: No agent on this page has the score that it is ranked by: no rating of it stands, or none proves a payment. `graph_scan_capped`: The window holds more settlements than one graph may read: the newest were read. */
            warnings?: components["schemas"]["Warning"][];
        };
        NameSource: string;
        NamedSettlement: {
            chain: components["schemas"]["Chain"];
            block_number: number;
            block_time: components["schemas"]["Timestamp"];
            tx_hash: string;
            /** @description Index of the Transfer log in its block. */
            log_index: number;
            payer: components["schemas"]["Address"];
            payee: components["schemas"]["Address"];
            asset: components["schemas"]["Address"];
            asset_symbol: string;
            /** @description Atomic units of the asset, a decimal string. */
            amount: string;
            amount_usd: components["schemas"]["Usd"];
            /** @description Sender of the transaction. */
            relayer: string;
            /** @description Id of the named facilitator, or null. */
            facilitator: string | null;
            /** @description Payer equals payee. Annotated, not hidden. */
            is_self_payment: boolean;
            finality: components["schemas"]["Finality"];
            evidence: components["schemas"]["Evidence"];
            payer_name: string | null;
            /** @description Who says the name: agent_card, endpoint_catalogue, operator_catalogue, facilitator (the card of its ERC-8004 agent, a published listing of endpoints, the configuration of this service, the table of facilitators). Null without a name. */
            payer_name_source: components["schemas"]["NameSource"] | null;
            payee_name: string | null;
            /** @description Who says the name: agent_card, endpoint_catalogue, operator_catalogue, facilitator (the card of its ERC-8004 agent, a published listing of endpoints, the configuration of this service, the table of facilitators). Null without a name. */
            payee_name_source: components["schemas"]["NameSource"] | null;
            facilitator_name: string | null;
        };
        /** @description Payments that fit the headline offer: to its pay_to, on its chain, in its asset, of exactly its amount (at most its amount where the scheme signs a ceiling), since it was listed, today and the 29 UTC days before. Only settlements graded proven or probable; self-payments do not count. What fits offers of several origins counts for the one that was listed first. */
        ObservedActivity: {
            settlement_count_30d: number;
            /** @description Exact up to some hundreds, above within about 2 percent. */
            unique_payers_30d: number;
            settled_usd_30d: components["schemas"]["Usd"];
            /** Format: date-time */
            last_settled_at: string | null;
            /** @description The later of: when the offer was first seen at this price, and the start of the 30 days. */
            since: components["schemas"]["Timestamp"];
            /** @description Other resources of the same origin with this pay_to, asset and amount. Payments do not say which of them they were for, so each shows all. */
            resources_on_same_terms: number;
        };
        OfferList: {
            /**
             * @description Of `resources`.
             * @constant
             */
            version: 1;
            /** @description URLs that answer 402 as they stand, once what they take is sent with them. */
            resources: string[];
            /**
             * @description Of `items`.
             * @constant
             */
            x402Version: 2;
            items: components["schemas"]["ListedOffer"][];
        };
        Organisation: {
            id: string;
            display_name: string;
        };
        PaidResource: {
            /** Format: uri */
            url: string;
            description: string;
            mimeType: string;
        };
        /** @description What the pay_to address was paid on that chain for anything, at any price, in the same time and by the same grades. It is not evidence for this resource: anybody can list any address. Nothing is ranked by it. */
        PayeeActivity: {
            settlement_count_30d: number;
            /** @description Exact up to some hundreds, above within about 2 percent. */
            unique_payers_30d: number;
            settled_usd_30d: components["schemas"]["Usd"];
            /** Format: date-time */
            last_settled_at: string | null;
        };
        /** @description A complete x402 offer, version 1. */
        PaymentOffer: {
            /** @constant */
            scheme: "exact";
            /** @description Name of the chain in version 1: `base`. */
            network: string;
            /** @description Atomic units of the asset. */
            maxAmountRequired: string;
            /** @description EIP-55 address. */
            asset: string;
            /** @description EIP-55 address. */
            payTo: string;
            /**
             * Format: uri
             * @description URL of what is bought.
             */
            resource: string;
            description: string;
            mimeType: string;
            /** @description How long the offer stands. */
            maxTimeoutSeconds: number;
            extra: components["schemas"]["TokenDomain"];
        };
        /** @description A signed payment, version 1: an EIP-3009 authorization and its signature. */
        PaymentPayload: {
            /** @constant */
            x402Version: 1;
            /** @constant */
            scheme: "exact";
            /** @description Name of the chain in version 1: `base`. */
            network: string;
            payload: components["schemas"]["SignedAuthorization"];
        };
        /** @description What became of a payment. */
        PaymentReceipt: {
            success: boolean;
            /** @description Hash of the settlement. */
            transaction: string;
            /** @description As the version of the payment names the chain. */
            network: string;
            payer: string;
            /** @description Atomic units that were taken, where the scheme is `upto`. */
            amount?: string;
        };
        /** @description The x402 offer, version 2, as the PAYMENT-REQUIRED header holds it. */
        PaymentRequired: {
            /** @constant */
            x402Version: 2;
            error: string;
            resource: components["schemas"]["PaidResource"];
            accepts: components["schemas"]["PaymentTerms"][];
        };
        /**
         * @description Where the payment failed.
         * @enum {string}
         */
        PaymentStage: "input" | "signature" | "fee" | "verify" | "settle" | "facilitator";
        PaymentTerms: {
            /**
             * @description exact: a fixed price. upto: a ceiling, settled for what was used.
             * @enum {string}
             */
            scheme: "exact" | "upto";
            network: components["schemas"]["Chain"];
            /** @description Atomic units of the asset. */
            amount: string;
            /** @description EIP-55 address. */
            asset: string;
            /** @description EIP-55 address. */
            payTo: string;
            /** @description How long the offer stands. */
            maxTimeoutSeconds: number;
            extra: components["schemas"]["TokenDomain"];
        };
        /** @description Of a call whose price its caller chooses (`max_qu`) and its use decides. Which part of it a plan may buy, `sql_tiers` says. */
        PriceRange: {
            /** @description What one unit buys. */
            unit: string;
            qu: components["schemas"]["UnitRange"];
            x402_usd: components["schemas"]["UsdRange"];
        };
        Problem: {
            /**
             * Format: uri-reference
             * @description Documentation of the code.
             */
            type: string;
            title: string;
            status: number;
            /** @description What happened in this request. */
            detail: string;
            /**
             * Format: uri-reference
             * @description The path that was asked for.
             */
            instance: string;
            code: components["schemas"]["ErrorCode"];
            request_id: string;
            /** @description The parameter at fault. */
            parameter?: string;
            resource?: components["schemas"]["Resource"];
            /** @description Seconds, as in Retry-After. */
            retry_after?: number;
            /**
             * @description With `accepts`, where the call can be paid for; version 2 is in the PAYMENT-REQUIRED header.
             * @constant
             */
            x402Version?: 1;
            /** @description What x402 clients of version 1 read. */
            error?: string;
            /** @description Complete x402 offers: sign one, and send the same request again with X-PAYMENT. */
            accepts?: components["schemas"]["PaymentOffer"][];
            stage?: components["schemas"]["PaymentStage"];
            /** @description Beside `stage`: whether the same payment may be sent again. */
            retryable?: boolean;
            /** @description Beside `stage`: the facilitator’s code for it. Of `query_failed`, and of an `invalid_query` that was found in planning: why the query failed. */
            reason?: string;
            /** @description Hash of the settlement. */
            transaction?: string;
            /** @description Look for it on the chain before anything else. */
            authorization_nonce?: string;
            /**
             * Format: date-time
             * @description When the settlement was asked for whose outcome is not known.
             */
            since?: string;
            position?: components["schemas"]["QueryPosition"];
            /** @description What stands there. */
            near?: string;
            /** @description What to write instead. */
            hint?: string;
            usage?: components["schemas"]["ChargedUnits"];
        };
        ProblemCount: {
            problem: string;
            count: number;
        };
        Profile: {
            wallet: components["schemas"]["Address"];
            /**
             * @description The role that is judged: payee for merchants, payer for agents.
             * @enum {string}
             */
            role: "payee" | "payer";
            coverage: components["schemas"]["ProfileCoverage"];
            /** @description What the catalogues know of the address, per chain. */
            entities: components["schemas"]["ProfileEntity"][];
            /** @description ERC-8004 agents that pay and are paid with this address now, on the chain served, the most recently rated first; at most 20. Agents that it owns and that use another wallet are on `/agents?owner=`. `finality` does not filter them. */
            erc8004_agents: components["schemas"]["Agent"][];
            /** @description How many there are, of which `erc8004_agents` shows the first. Counted among the first 10,000, by chain and id, that ever had the address. */
            erc8004_agents_total: number;
            aggregates: components["schemas"]["ProfileAggregates"];
            data_quality: components["schemas"]["DataQuality"];
            meta: components["schemas"]["Meta"];
        };
        ProfileAggregates: {
            inbound_usd: components["schemas"]["Usd"];
            inbound_count: number;
            outbound_usd: components["schemas"]["Usd"];
            outbound_count: number;
            /** @description Other wallets that it paid or was paid by. */
            distinct_counterparties: number;
            /** @description Dollars paid by the wallet to itself, counted once. */
            self_payment_usd: number;
            /** @description Dollars in the role of this profile (merchants: inbound, agents: outbound) without self-payments. */
            organic_usd: number;
            /** @description Of the dollars in the role of this profile, self-payments included, those with evidence tier proven. */
            proven_usd: number;
            /** @description Chains with settlements of this wallet. */
            chain_split: components["schemas"]["ChainFlows"][];
            /** @description The last 30 UTC days, oldest first, today included; days without settlements are zero. */
            daily: components["schemas"]["DailyFlows"][];
            basis: components["schemas"]["ProfileBasis"];
        };
        ProfileBasis: {
            /**
             * @description Sums, counts, chain_split, daily, first_seen and last_seen: every indexed settlement.
             * @enum {string}
             */
            totals: "exact";
            /**
             * @description estimated: a merged sketch with a standard error of about 2 %, because the scan was truncated.
             * @enum {string}
             */
            distinct_counterparties: "exact" | "estimated";
            /**
             * @description newest_settlements: only the settlements_scanned newest ones.
             * @enum {string}
             */
            signals: "all_settlements" | "newest_settlements";
            /**
             * @description finalized: only settlements that no reorg can undo.
             * @enum {string}
             */
            finality: "any" | "finalized";
        };
        ProfileCoverage: {
            /** @description Whether any served settlement has this wallet, in either role. false: never paid, not yet indexed, or not on a chain served (`meta`). */
            known: boolean;
            first_seen: components["schemas"]["Timestamp"] | null;
            last_seen: components["schemas"]["Timestamp"] | null;
            /** @description Settlements, newest first, that distinct counts and signals were computed from. */
            settlements_scanned: number;
            /** @description Older settlements exist that were not scanned. */
            scan_truncated: boolean;
            /** @description A wallet with no more rows than this is always scanned whole; of one with more the scan may be cut to its newest rows, as `scan_truncated` says. A payment to oneself has two rows, and a row not yet merged counts each version. */
            scan_cap: number;
        };
        ProfileEntity: {
            /**
             * @description payee: payTo of a catalogued resource. relayer: sends settlements for a facilitator. endpoint: a resource of /endpoints with an offer that is paid to it; at most 20, by URL.
             * @enum {string}
             */
            kind: "payee" | "relayer" | "endpoint";
            chain: components["schemas"]["Chain"];
            name: string | null;
            /** @description The catalogue that says so. */
            source: string;
            /** @description Of a payee and an endpoint: what is sold. */
            resource?: string;
            /** @description Of a relayer: id of the facilitator. */
            facilitator?: string;
            /**
             * Format: date
             * @description UTC day.
             */
            since?: string;
        };
        ProofOfPayment: {
            chain: components["schemas"]["Chain"];
            tx_hash: string;
            from: components["schemas"]["Address"];
            to: components["schemas"]["Address"];
            /**
             * @description proven: a settlement of this transaction went from one to the other. contradicted: the transaction is in the index and no settlement of it did, or the file is not the one that was logged, or is about somebody else. unknown: the transaction is not in the index.
             * @enum {string}
             */
            status: "proven" | "contradicted" | "unknown";
            /** @description The first one between them in that transaction; null unless proven. */
            settlement: components["schemas"]["ProofSettlement"] | null;
        };
        ProofSettlement: {
            log_index: number;
            /** @description Atomic units. */
            amount: string;
            amount_usd: components["schemas"]["Usd"];
            payer: components["schemas"]["Address"];
            payee: components["schemas"]["Address"];
        };
        ProtectedResource: {
            /**
             * Format: uri
             * @description What a token must be issued for.
             */
            resource: string;
            authorization_servers: string[];
            bearer_methods_supported: string[];
            resource_name: string;
        };
        /** @description Where in the text that was sent, counted from 1. */
        QueryPosition: {
            line: number;
            column: number;
        };
        RankedAgent: {
            /** @description Place on the whole leaderboard; 1 is the best. */
            rank: number;
            chain: components["schemas"]["Chain"];
            /** @description Token id in the identity registry of the chain; a decimal string, ids start at 0. */
            agent_id: string;
            owner: components["schemas"]["Address"];
            /** @description Address that it pays and is paid with; null when it was cleared. */
            wallet: components["schemas"]["Address"] | null;
            /** @description As the card claims, made safe to show; null without a card. Not its name where `name_imitates` says whose it looks like, or where `domain_proof` is refuted: settlements then do not show it. */
            name: string | null;
            /** @description Id of the named facilitator whose name this one is, or looks like, while the wallet is none of its relayers; null otherwise. */
            name_imitates: string | null;
            description: string | null;
            /** @description https or ipfs URL. An image that the card itself holds (data:) is not carried. */
            image: string | null;
            /** @description Where the card is. A data: URI is the card itself: of one longer than 256 characters the start is shown, and …; SQL has all of it. Invisible characters are percent-encoded. */
            agent_uri: string | null;
            services: components["schemas"]["AgentService"][];
            /** @description Slugs of /capabilities, by a published rule. */
            capabilities: string[];
            supported_trust: string[];
            /** @description Whether the card declares x402. */
            x402_support: boolean;
            /** @description Whether the card says that the agent is in service; null without a card. */
            active: boolean | null;
            /** @description Ratings from 0 to 100 that were not revoked, each client once by the mean of his, as if 5 clients more had given 50; null without a rating. Ratings are feedback without a tag1 or with one of starred, quality, rating, score, and a value from 0 to 100. Feedback under other tags is on other scales: see tag_scores. */
            score: number | null;
            /** @description Mean of the clients’ mean ratings, which `score` is drawn to the middle from. */
            rating_mean: number | null;
            /** @description Ratings that `score` is of. */
            rating_count: number;
            /** @description Different addresses that gave these ratings. */
            rating_clients: number;
            /** @description `score` of the ratings whose file proves a payment: a settlement of this index from the client to a present or past owner or wallet of the agent. Looked up again at least hourly; null without any. */
            paid_score: number | null;
            /** @description Ratings that `paid_score` is of. */
            paid_rating_count: number;
            /** @description Different addresses that gave these. */
            paid_rating_clients: number;
            /** @description By tag1, each on its own scale, those that most clients gave first; at most 16. */
            tag_scores: components["schemas"]["TagScore"][];
            /** @description Feedback of any tag that was not revoked. */
            feedback_count: number;
            /** @description Different addresses that gave it. */
            distinct_clients: number;
            registered_at: components["schemas"]["Timestamp"];
            /** @description Newest of its registration, its changes, feedback about it and settlements of its wallet on any indexed chain; a settlement that a reorg took back counts too. */
            last_activity_at: components["schemas"]["Timestamp"];
            /**
             * @description active: its wallet settled within 30 days. idle: it settled before. unseen: it never did.
             * @enum {string}
             */
            activity_status: "active" | "idle" | "unseen";
            card: components["schemas"]["AgentCard"];
            /** @description Domain that the card claims, to be believed when `domain_proof` is proven. */
            domain: string | null;
            /**
             * @description Whether the domain itself names the agent in /.well-known/agent-registration.json.
             * @enum {string}
             */
            domain_proof: "unchecked" | "proven" | "refuted" | "unreachable";
        };
        Relayer: {
            address: components["schemas"]["Address"];
            chain: components["schemas"]["Chain"];
            /** @description Id of the facilitator; absent for a relayer that no catalogue names. */
            facilitator?: string;
            facilitator_name?: string;
            settlement_count: number;
            settled_usd: components["schemas"]["Usd"];
            /** @description An estimate, see `meta.basis`. */
            distinct_payers: number;
            /** @description An estimate, see `meta.basis`. */
            distinct_payees: number;
            first_seen: components["schemas"]["Timestamp"];
            last_seen: components["schemas"]["Timestamp"];
            /** @description Transactions that the account has sent, at `enriched_at`. */
            nonce?: number;
            /** @description Native balance in its smallest unit (wei). */
            gas_balance?: string;
            enriched_at?: components["schemas"]["Timestamp"];
        };
        RelayerBasis: {
            /** @constant */
            settlement_count: "exact";
            /** @constant */
            settled_usd: "exact";
            /** @constant */
            distinct_payers: "estimate";
            /** @constant */
            distinct_payees: "estimate";
            /** @description Relative standard error of the distinct counts; small numbers are exact. */
            distinct_standard_error: number;
        };
        /**
         * @description What could not be read or reached.
         * @enum {string}
         */
        Resource: "settlements" | "wallets" | "facilitators" | "graph" | "agents" | "attestations" | "endpoints" | "capabilities" | "names" | "chains" | "sql" | "index" | "accounts" | "facilitator" | "identity_provider";
        RollupTelemetry: {
            /** @description Days, or hours of busy days, that are still read from their rows; the present day always is. */
            open_slices: number;
            /** Format: date-time */
            oldest_open_at: string | null;
            /** Format: date-time */
            last_closed_at: string | null;
        };
        RoutePrice: {
            operation: string;
            method: string;
            path: string;
            /** @description Query Units on the credit lane, with a `range` the least; null where units buy nothing. */
            qu: number | null;
            /** @description Dollars on the x402 lane, with a `range` those of a call that chooses nothing. */
            x402_usd: number;
            range: components["schemas"]["PriceRange"] | null;
        };
        RunSqlRequest: {
            /** @description One SELECT in the dialect of ClickHouse, over the public tables: at most 64 KiB. A trailing FORMAT is ignored with a warning, SETTINGS are refused. */
            sql?: string;
            /** @description The same as `sql`. Send one of the two. */
            query?: string;
            /**
             * @description How long the query may run, and so what it may cost. `/v0/account` says which tiers a caller may buy.
             * @default standard
             * @enum {string}
             */
            tier?: "standard" | "extended" | "deep";
            /** @description The most that the query may cost, in Query Units: it is held, and it ends the run after 5 s a unit. Over x402 it sets the price, 0.01 USD a unit. Default: the maximum of the tier. */
            max_qu?: number;
            /** @description Values of the placeholders `{name:Type}` of the query, by name: texts, numbers, booleans, null, or lists of these. Numbers beyond 2^53 are sent as texts. At most 100. */
            params?: {
                [key: string]: unknown;
            };
            /**
             * @description How the answer is written; without it the Accept header chooses. JSON answers have at most 10000 rows, the others 1000000.
             * @default json
             * @enum {string}
             */
            format?: "json" | "json_compact" | "ndjson" | "csv" | "parquet" | "arrow";
            /** @description Rows that the answer has at most, 1 or more; `truncated` says whether there are more. Clamped to what the format allows, which is also the default. */
            max_rows?: number;
            /**
             * @description Judges the query and estimates what it would read and cost, without running it. Free, and needs no key.
             * @default false
             */
            explain_only?: boolean;
        };
        ServiceStatus: {
            status: string;
        };
        Settlement: {
            chain: components["schemas"]["Chain"];
            block_number: number;
            block_time: components["schemas"]["Timestamp"];
            tx_hash: string;
            /** @description Index of the Transfer log in its block. */
            log_index: number;
            payer: components["schemas"]["Address"];
            payee: components["schemas"]["Address"];
            asset: components["schemas"]["Address"];
            asset_symbol: string;
            /** @description Atomic units of the asset, a decimal string. */
            amount: string;
            amount_usd: components["schemas"]["Usd"];
            /** @description Sender of the transaction. */
            relayer: string;
            /** @description Id of the named facilitator, or null. */
            facilitator: string | null;
            /** @description Payer equals payee. Annotated, not hidden. */
            is_self_payment: boolean;
            finality: components["schemas"]["Finality"];
            evidence: components["schemas"]["Evidence"];
        };
        SettlementListMeta: {
            /** @description The chain served; null when the answer spans every chain in `freshness`. */
            chain: string | null;
            as_of: components["schemas"]["Timestamp"];
            freshness: components["schemas"]["Freshness"];
            /** @description This page only; do not add up. */
            page_self_payments?: number;
            page_self_payment_usd?: components["schemas"]["Usd"];
            page_gross_usd?: components["schemas"]["Usd"];
            page_organic_usd?: components["schemas"]["Usd"];
            /** @description Present and true when exclude_self_payments filtered this page. */
            self_payments_excluded?: boolean;
            /**
             * Format: date-time
             * @description When the listed table was last written for the chain that was asked; null: never.
             */
            dataset_last_written_at?: string | null;
            /** @description Rows of the listed table on the chain that was asked, before any other filter. */
            dataset_row_count?: number;
            /** @description `index_lagging`: A served chain is more than 120 seconds behind, or its node does not answer. `index_not_started`: A served chain has not reported any indexed block yet. `backfill_in_progress`: Older blocks of a served chain are still being indexed. `finality_unknown`: Only final settlements were asked for, and a served chain has not stated a final block: it contributes none. `graph_edges_cut`: More pairs of wallets paid each other than max_edges shows: the largest are shown. `endpoints_catalog_stale`: Part of the endpoint directory may be outdated: a source was not read to its end lately, or none ever was. `no_agent_on_this_page_has_a_score`: No agent on this page has the score that it is ranked by: no rating of it stands, or none proves a payment. `graph_scan_capped`: The window holds more settlements than one graph may read: the newest were read. */
            warnings?: components["schemas"]["Warning"][];
        };
        Signal: {
            /** @enum {string} */
            id: "self_payment_share" | "payer_concentration" | "single_payer_dominance" | "payee_concentration" | "single_payee_dominance" | "reciprocity" | "ring_membership";
            /** @description A share within [0,1] at four decimals, rounded down, or a count. Null when there is nothing to measure. */
            value: number | null;
            threshold: number;
            /** @description The value reached the threshold. */
            triggered: boolean;
            method_version: string;
            note?: string;
        };
        SignedAuthorization: {
            signature: string;
            authorization: components["schemas"]["TransferAuthorization"];
        };
        SqlColumn: {
            name: string;
            /** @description The engine’s type. */
            type: string;
        };
        SqlEstimate: {
            /** @description The text that would run. */
            sql: string;
            tables: string[];
            estimate: components["schemas"]["SqlReadEstimate"];
            tier: components["schemas"]["SqlTier"];
            advised_tier: components["schemas"]["SqlTier"];
            meta: components["schemas"]["Meta"];
            /** @description `format_ignored`: The query named a FORMAT, which was dropped: the field `format` chooses. `totals_left_out`: The query asks WITH TOTALS, whose row is not in the answer: WITH ROLLUP gives it as a row. `constant_matches_nothing`: A column is compared with a constant that no row can have: the answer is that of no match. `replacement` is the literal to write. `no_time_filter`: No condition on block_time or day narrows what is read. `no_key_filter`: No condition on a key of the table narrows what is read: it is read whole. `estimate_unavailable`: The engine did not estimate in time. `estimate_needs_key`: Without a key only plain queries are estimated: those without subqueries outside FROM, table functions and unusual functions. Send a key for an estimate of this one. `tier_too_small`: The query may need more time than its tier has. `budget_too_small`: The query may need more time than its `max_qu` pays for. `index_lagging`: A served chain is more than 120 seconds behind, or its node does not answer. `index_not_started`: A served chain has not reported any indexed block yet. `backfill_in_progress`: Older blocks of a served chain are still being indexed. `finality_unknown`: Only final settlements were asked for, and a served chain has not stated a final block: it contributes none. `graph_edges_cut`: More pairs of wallets paid each other than max_edges shows: the largest are shown. `endpoints_catalog_stale`: Part of the endpoint directory may be outdated: a source was not read to its end lately, or none ever was. `no_agent_on_this_page_has_a_score`: No agent on this page has the score that it is ranked by: no rating of it stands, or none proves a payment. `graph_scan_capped`: The window holds more settlements than one graph may read: the newest were read. */
            warnings: components["schemas"]["SqlWarning"][];
        };
        SqlExample: {
            question: string;
            sql: string;
        };
        SqlFormatLimits: {
            format: string;
            media_type: string;
            max_rows: number;
        };
        SqlLimits: {
            text_bytes: number;
            parameters: number;
            answer_bytes: number;
            seconds_per_qu: number;
            tiers: components["schemas"]["SqlTierLimits"][];
            formats: components["schemas"]["SqlFormatLimits"][];
        };
        /** @description Where it stands in your text, both from 1; absent for a parameter. */
        SqlPosition: {
            line: number;
            column: number;
        };
        SqlReadEstimate: {
            /** @description By the engine’s index analysis. An estimate: a bare count() reads more than it says. Null when it did not say in time. */
            rows_to_read: number | null;
            /** @description Uncompressed, from the average row. */
            bytes_to_read: number | null;
            qu_min: number;
            /** @description Never above `max_qu`. Estimated without one, it is what to send as `max_qu`. */
            qu_max: number;
        };
        SqlResult: {
            columns: components["schemas"]["SqlColumn"][];
            /** @description Objects by column name, or arrays with `json_compact`. Integers of 64 bits and more and decimals are texts, and so are nan, inf and -inf. */
            rows: ({
                [key: string]: unknown;
            } | unknown[])[];
            row_count: number;
            /** @description There are more rows than the answer has: a cap was reached. */
            truncated: boolean;
            /** @description Engine time. */
            duration_ms: number;
            statistics: components["schemas"]["SqlStatistics"];
            usage: components["schemas"]["SqlUsage"];
            meta: components["schemas"]["Meta"];
            /** @description The text that ran: yours, as the engine writes it. */
            sql: string;
            /** @description `format_ignored`: The query named a FORMAT, which was dropped: the field `format` chooses. `totals_left_out`: The query asks WITH TOTALS, whose row is not in the answer: WITH ROLLUP gives it as a row. `constant_matches_nothing`: A column is compared with a constant that no row can have: the answer is that of no match. `replacement` is the literal to write. `no_time_filter`: No condition on block_time or day narrows what is read. `no_key_filter`: No condition on a key of the table narrows what is read: it is read whole. `estimate_unavailable`: The engine did not estimate in time. `estimate_needs_key`: Without a key only plain queries are estimated: those without subqueries outside FROM, table functions and unusual functions. Send a key for an estimate of this one. `tier_too_small`: The query may need more time than its tier has. `budget_too_small`: The query may need more time than its `max_qu` pays for. `index_lagging`: A served chain is more than 120 seconds behind, or its node does not answer. `index_not_started`: A served chain has not reported any indexed block yet. `backfill_in_progress`: Older blocks of a served chain are still being indexed. `finality_unknown`: Only final settlements were asked for, and a served chain has not stated a final block: it contributes none. `graph_edges_cut`: More pairs of wallets paid each other than max_edges shows: the largest are shown. `endpoints_catalog_stale`: Part of the endpoint directory may be outdated: a source was not read to its end lately, or none ever was. `no_agent_on_this_page_has_a_score`: No agent on this page has the score that it is ranked by: no rating of it stands, or none proves a payment. `graph_scan_capped`: The window holds more settlements than one graph may read: the newest were read. */
            warnings?: components["schemas"]["SqlWarning"][];
        };
        SqlStatistics: {
            rows_read: number;
            bytes_read: number;
            memory_bytes: number;
        };
        SqlTable: {
            name: string;
            meaning: string;
            /** @description About: rows as they are stored; of the day tables those of days that were added up already, the days since are added up when they are asked for. count() of the table is exact. */
            row_count: number;
            /** @description Columns by which a constant in WHERE reads little, the most helpful first. With `columns` and `example` only for the tables that `table` names. */
            cheap_by?: string[];
            columns?: components["schemas"]["SqlTableColumn"][];
            /** @description A query over the table that can be run as it stands. */
            example?: string;
        };
        SqlTableColumn: {
            name: string;
            type: string;
            meaning: string;
        };
        SqlTelemetry: {
            /**
             * @description Whose SQL is run now. everyone: every caller whom the price list admits; organizations: callers with the key of an organization; others are refused, with 429 after queries that could not be stopped; no_caller: none, after queries that could not be stopped again and again: all are refused with 429 until the operator has looked. Every other route is open as usual.
             * @enum {string}
             */
            open_to: "everyone" | "organizations" | "no_caller";
        };
        /**
         * @description The smallest tier whose time is likely to be enough.
         * @enum {string}
         */
        SqlTier: "standard" | "extended" | "deep";
        SqlTierLimits: {
            tier: string;
            timeout_seconds: number;
            max_qu: number;
            requests_per_minute: number;
        };
        SqlUsage: {
            query_tier: components["schemas"]["SqlTier"];
            /** @description `max_qu`, or the maximum of the tier. */
            units_held: number;
            units_charged: number;
            /** @description What the organization has left; null on the x402 lane. */
            balance: number | null;
        };
        SqlWarning: {
            code: components["schemas"]["SqlWarningCode"];
            /** @description What it means, and what to write instead. */
            message: string;
            /** @description The constant that it is about. */
            near?: string;
            position?: components["schemas"]["SqlPosition"];
            /** @description The literal to write there, with its quotes. */
            replacement?: string;
        };
        /** @enum {string} */
        SqlWarningCode: "format_ignored" | "totals_left_out" | "constant_matches_nothing" | "no_time_filter" | "no_key_filter" | "estimate_unavailable" | "estimate_needs_key" | "tier_too_small" | "budget_too_small" | "index_lagging" | "index_not_started" | "backfill_in_progress" | "finality_unknown" | "graph_edges_cut" | "endpoints_catalog_stale" | "no_agent_on_this_page_has_a_score" | "graph_scan_capped";
        TagScore: {
            /** @description tag1 as it was logged, made safe to show; null for feedback without one. */
            tag: string | null;
            /** @description Mean of the clients’ means, on the scale of the tag: milliseconds, percent, whatever it is. */
            mean: number;
            /** @description Whether the tag is read as a rating from 0 to 100; only these make `score`. */
            is_rating: boolean;
            feedback_count: number;
            distinct_clients: number;
        };
        /**
         * Format: date-time
         * @description RFC 3339, UTC, whole seconds.
         */
        Timestamp: string;
        /** @description EIP-712 domain of the token; with `upto` also how it is transferred. */
        TokenDomain: {
            name: string;
            version: string;
            assetTransferMethod?: string;
            /** @description EIP-55 address. */
            facilitatorAddress?: string;
        };
        TransferAuthorization: {
            /** @description EIP-55 address. */
            from: string;
            /** @description EIP-55 address. */
            to: string;
            /** @description Atomic units of the asset. */
            value: string;
            /** @description Unix seconds. */
            validAfter: string;
            /** @description Unix seconds. */
            validBefore: string;
            /** @description 32 random bytes, used once. */
            nonce: string;
        };
        TrialKey: {
            /** @description `six_trial_` and 43 base62 characters. Keep it: only its digest is stored. */
            api_key: string;
            /** @constant */
            tier: "trial";
            expires_at: components["schemas"]["Timestamp"];
            settlement: components["schemas"]["KeySettlement"];
        };
        UnitBalance: {
            available_qu: number;
            low_balance_threshold_qu: number;
            low_balance: boolean;
        };
        /** @description Of one call on the credit lane, in Query Units. */
        UnitRange: {
            min: number;
            max: number;
            per_unit: number;
        };
        /** @description Dollars, at most six decimals, from exact decimals. */
        Usd: number;
        /** @description Of one call over x402, in dollars. */
        UsdRange: {
            min: number;
            max: number;
            per_unit: number;
        };
        /** @enum {string} */
        Verdict: "unobserved" | "insufficient" | "clean" | "mixed" | "suspect";
        Wallet: {
            wallet: components["schemas"]["Address"];
            /** @description Null when unknown. */
            name: string | null;
            /** @description Who says the name: agent_card, endpoint_catalogue, operator_catalogue, facilitator (the card of its ERC-8004 agent, a published listing of endpoints, the configuration of this service, the table of facilitators). Null without a name. */
            name_source: components["schemas"]["NameSource"] | null;
            roles: ("payer" | "payee")[];
            /** @description A payment of the wallet to itself counts once. */
            settlement_count: number;
            first_seen: components["schemas"]["Timestamp"];
            last_seen: components["schemas"]["Timestamp"];
        };
        /** @enum {string} */
        Warning: "index_lagging" | "index_not_started" | "backfill_in_progress" | "finality_unknown" | "graph_edges_cut" | "endpoints_catalog_stale" | "no_agent_on_this_page_has_a_score" | "graph_scan_capped";
    };
    responses: {
        /** @description `headers_too_large`: Send fewer or smaller headers. */
        HeadersTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Server-Timing": components["headers"]["Server-Timing"];
                "Cache-Control": components["headers"]["Cache-Control"];
                Vary: components["headers"]["Vary"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `internal_error`: Retry once; if it persists, report `request_id` to the operator. */
        InternalError: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Server-Timing": components["headers"]["Server-Timing"];
                "Cache-Control": components["headers"]["Cache-Control"];
                Vary: components["headers"]["Vary"];
                "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `invalid_api_key`: Send a valid key as `Authorization: Bearer` or `X-API-Key`, or none where the route is open. */
        InvalidApiKey: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Server-Timing": components["headers"]["Server-Timing"];
                "Cache-Control": components["headers"]["Cache-Control"];
                Vary: components["headers"]["Vary"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `invalid_parameter`: Correct the parameter named in `parameter`; the request was not run. `malformed_request`: Correct the URL, the headers or the body as `detail` says. */
        InvalidRequest: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Server-Timing": components["headers"]["Server-Timing"];
                "Cache-Control": components["headers"]["Cache-Control"];
                Vary: components["headers"]["Vary"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `invalid_api_key`: Send a valid key as `Authorization: Bearer` or `X-API-Key`, or none where the route is open. `api_key_required`: Send a key as `Authorization: Bearer` or `X-API-Key`. This deployment does not sell single calls over x402. */
        KeyRequired: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Server-Timing": components["headers"]["Server-Timing"];
                "Cache-Control": components["headers"]["Cache-Control"];
                Vary: components["headers"]["Vary"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `malformed_request`: Correct the URL, the headers or the body as `detail` says. */
        MalformedRequest: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Server-Timing": components["headers"]["Server-Timing"];
                "Cache-Control": components["headers"]["Cache-Control"];
                Vary: components["headers"]["Vary"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `method_not_allowed`: Use a method listed in the `Allow` header. */
        MethodNotAllowed: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Server-Timing": components["headers"]["Server-Timing"];
                "Cache-Control": components["headers"]["Cache-Control"];
                Vary: components["headers"]["Vary"];
                Allow: components["headers"]["Allow"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `not_found`: See /openapi.json for the routes of this service. */
        NotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Server-Timing": components["headers"]["Server-Timing"];
                "Cache-Control": components["headers"]["Cache-Control"];
                Vary: components["headers"]["Vary"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `payload_too_large`: Send a smaller body. */
        PayloadTooLarge: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Server-Timing": components["headers"]["Server-Timing"];
                "Cache-Control": components["headers"]["Cache-Control"];
                Vary: components["headers"]["Vary"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `payment_in_progress`: Wait for its answer. If there is none, send the same request again after `Retry-After`. */
        PaymentInProgress: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Server-Timing": components["headers"]["Server-Timing"];
                "Cache-Control": components["headers"]["Cache-Control"];
                Vary: components["headers"]["Vary"];
                "Retry-After": components["headers"]["Retry-After"];
                "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `payment_required`: Send a key that covers it, or pay one of `accepts` and send the same request with `X-PAYMENT`. `payment_malformed`: Send base64 of the x402 payment object, with an EIP-3009 authorization and its signature. `payment_invalid`: Sign a new authorization for one of `accepts`; the same one fails again. Nothing was charged. `payment_failed`: Nothing was charged. Send the same payment again, or sign a new one. */
        PaymentRequired: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Server-Timing": components["headers"]["Server-Timing"];
                "Cache-Control": components["headers"]["Cache-Control"];
                Vary: components["headers"]["Vary"];
                "PAYMENT-REQUIRED": components["headers"]["PAYMENT-REQUIRED"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `rate_limited`: Wait for the seconds in `Retry-After`, then send the same request. */
        RateLimited: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Server-Timing": components["headers"]["Server-Timing"];
                "Cache-Control": components["headers"]["Cache-Control"];
                Vary: components["headers"]["Vary"];
                "Retry-After": components["headers"]["Retry-After"];
                "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `request_timeout`: Send the whole request at once. */
        RequestTimeout: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Server-Timing": components["headers"]["Server-Timing"];
                "Cache-Control": components["headers"]["Cache-Control"];
                Vary: components["headers"]["Vary"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `settlement_unknown`: Look for the authorization’s nonce on the chain before anything else. Send the same request with the same payment again after `Retry-After`: once the chain shows the settlement it is served. Never sign again before that. */
        SettlementUnknown: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Server-Timing": components["headers"]["Server-Timing"];
                "Cache-Control": components["headers"]["Cache-Control"];
                Vary: components["headers"]["Vary"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `overloaded`: Wait for the seconds in `Retry-After`, then send the same request. Nothing was run or charged. `upstream_unavailable`: Retry after the seconds in `Retry-After`. The resource named in `resource` refused or did not answer. */
        Unavailable: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Server-Timing": components["headers"]["Server-Timing"];
                "Cache-Control": components["headers"]["Cache-Control"];
                Vary: components["headers"]["Vary"];
                "Retry-After": components["headers"]["Retry-After"];
                "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `payment_required`: Send a key that covers it, or pay one of `accepts` and send the same request with `X-PAYMENT`. `payment_malformed`: Send base64 of the x402 payment object, with an EIP-3009 authorization and its signature. `payment_invalid`: Sign a new authorization for one of `accepts`; the same one fails again. Nothing was charged. `payment_failed`: Nothing was charged. Send the same payment again, or sign a new one. `insufficient_qu`: Top up, hold less (`max_qu` of SQL), or pay for this call with one of `accepts`. */
        UnitsOrPaymentRequired: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Server-Timing": components["headers"]["Server-Timing"];
                "Cache-Control": components["headers"]["Cache-Control"];
                Vary: components["headers"]["Vary"];
                "PAYMENT-REQUIRED": components["headers"]["PAYMENT-REQUIRED"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `unsupported_media_type`: Send no body, or the media type that the operation documents. */
        UnsupportedMediaType: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Server-Timing": components["headers"]["Server-Timing"];
                "Cache-Control": components["headers"]["Cache-Control"];
                Vary: components["headers"]["Vary"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `upgrade_required`: Ask for a plan that includes it; /v0/account lists what yours allows. */
        UpgradeRequired: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Server-Timing": components["headers"]["Server-Timing"];
                "Cache-Control": components["headers"]["Cache-Control"];
                Vary: components["headers"]["Vary"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `upstream_unavailable`: Retry after the seconds in `Retry-After`. The resource named in `resource` refused or did not answer. */
        UpstreamUnavailable: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Server-Timing": components["headers"]["Server-Timing"];
                "Cache-Control": components["headers"]["Cache-Control"];
                Vary: components["headers"]["Vary"];
                "Retry-After": components["headers"]["Retry-After"];
                "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `uri_too_long`: Send fewer or shorter parameters. */
        UriTooLong: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                RateLimit: components["headers"]["RateLimit"];
                "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                "Server-Timing": components["headers"]["Server-Timing"];
                "Cache-Control": components["headers"]["Cache-Control"];
                Vary: components["headers"]["Vary"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        /**
         * @description Rows on a page, 1 to 100. Values outside are clamped, not refused.
         * @example 10
         */
        Limit: number;
        /** @description Opaque cursor: `next_before` of the previous page, unchanged. Do not parse or construct it. */
        Before: string;
        /**
         * @description Only this chain, by CAIP-2 name. Default: every chain this deployment indexes.
         * @example eip155:8453
         */
        Chain: string;
        /** @description `finalized`: only settlements that no reorg can undo, by what each chain itself called final; a chain that has not stated a final block contributes none. `any` (default): all. A cursor may be used with either. */
        Finality: "finalized" | "any";
        /**
         * @description Only settlements relayed by this facilitator, by id.
         * @example coinbase
         */
        Facilitator: string;
        /**
         * @description Wallet address, in any case; mixed case must match EIP-55.
         * @example 0x4020615294c913f045dc10f0a5cdebd86c280001
         */
        Wallet: string;
        /** @description Only settlements where the wallet is the payer, or the payee. `any` (default) has both. */
        Role: "payer" | "payee" | "any";
        /**
         * @description Only this chain, by CAIP-2 name, or `all`: every chain this deployment indexes, together. Default: the first chain of its configuration. `meta.chain` says which one was served.
         * @example eip155:8453
         */
        ChainOrAll: string;
        /** @description Rows to skip: `next_offset` of the previous page. 0 to 10,000. */
        Offset: number;
        /**
         * @description An id of the caller’s choosing for this request, to find it again in logs. Another form of it is left alone.
         * @example 0b8f3c52-1a8e-4b61-9d2f-6c1f0e7a9b13
         */
        XRequestId: string;
        /**
         * @description ETag of the answer that the caller has: 304 when there is nothing new. A call that is charged is answered in full.
         * @example W/"Zk0T2mJ1qkR9n3vXw7cYb5LdPQs"
         */
        IfNoneMatch: string;
        /** @description Base64 of a signed x402 payment for one of `accepts`. It goes before a key. Version 2 clients send the same as PAYMENT-SIGNATURE. */
        XPayment: string;
        /** @description Base64 of a signed x402 payment, as version 2 names the header. */
        PaymentSignature: string;
        /**
         * @description Of at least 16 characters: the same request with the same payment gives the same answer again. A shorter one is left alone.
         * @example 7f9c2ba4-e88f-4d1a-a1b4-5c0f8a3d6e21
         */
        IdempotencyKey: string;
        /**
         * @description Chosen by the client, for calls on units: the same request with the same key is charged once, and gives the same answer again for 24 hours where that is JSON of at most 256 KiB.
         * @example 7f9c2ba4-e88f-4d1a-a1b4-5c0f8a3d6e21
         */
        IdempotencyKeyUnits: string;
    };
    requestBodies: never;
    headers: {
        /**
         * @description The id sent with the request, or a new one. Name it when reporting a fault.
         * @example 0b8f3c52-1a8e-4b61-9d2f-6c1f0e7a9b13
         */
        "X-Request-Id": string;
        /**
         * @description Quota and window; a second entry for the window of a SQL tier: `"default";q=600;w=60, "sql-standard";q=30;w=60`.
         * @example "default";q=600;w=60
         */
        "RateLimit-Policy": string;
        /**
         * @description What is left, and the seconds until the window starts anew; entries as in RateLimit-Policy.
         * @example "default";r=599;t=60
         */
        RateLimit: string;
        /**
         * @description Requests a minute.
         * @example 600
         */
        "X-RateLimit-Limit": number;
        /**
         * @description Requests left in this minute.
         * @example 599
         */
        "X-RateLimit-Remaining": number;
        /**
         * @description Seconds until the minute starts anew.
         * @example 60
         */
        "X-RateLimit-Reset": number;
        /**
         * @description Seconds after which a retry makes sense.
         * @example 5
         */
        "Retry-After": number;
        /**
         * @description Weak tag of what the answer says; send it back as If-None-Match.
         * @example W/"Zk0T2mJ1qkR9n3vXw7cYb5LdPQs"
         */
        ETag: string;
        /**
         * @description `rel="next"`: the next page, when there is one.
         * @example </v0/transactions?limit=50&before=AbCd>; rel="next"
         */
        Link: string;
        /**
         * @description `private, no-cache`: keep the answer, and ask with its ETag each time. `no-store` on answers that differ each time, and on every failure.
         * @example private, no-cache
         */
        "Cache-Control": string;
        /**
         * @description What an answer depends on beside the URL: who asks, and what was paid.
         * @example Authorization, X-API-Key, X-PAYMENT, PAYMENT-SIGNATURE
         */
        Vary: string;
        /**
         * @description Milliseconds: queue, engine, total.
         * @example queue;dur=0.3, engine;dur=8.1, total;dur=9.6
         */
        "Server-Timing": string;
        /**
         * @description `true` where this is the kept answer of an earlier request with the same Idempotency-Key.
         * @example true
         */
        "Idempotent-Replayed": "true";
        /**
         * @description The methods that the route takes.
         * @example GET, HEAD, OPTIONS
         */
        Allow: string;
        /**
         * @description How to send a credential; names an error where one was sent.
         * @example Bearer realm="settlement-index", error="invalid_token"
         */
        "WWW-Authenticate": string;
        /**
         * @description Base64 of the x402 offer, version 2, where the deployment sells calls. The body holds version 1.
         * @example eyJ4NDAyVmVyc2lvbiI6MiwiZXJyb3IiOiJwYXltZW50X3JlcXVpcmVkIiwicmVzb3VyY2UiOnsidXJsIjoiaHR0cHM6Ly9pbmRleC5leGFtcGxlL3YwL3RyYW5zYWN0aW9ucyIsImRlc2NyaXB0aW9uIjoiRXZlcnkgaW5kZXhlZCBzZXR0bGVtZW50LCBuZXdlc3QgZmlyc3QsIGZpbHRlcmFibGUgYnkgeDQwMiBjb25maWRlbmNlIiwibWltZVR5cGUiOiJhcHBsaWNhdGlvbi9qc29uIn0sImFjY2VwdHMiOlt7InNjaGVtZSI6ImV4YWN0IiwibmV0d29yayI6ImVpcDE1NTo4NDUzIiwiYW1vdW50IjoiMTAwMCIsImFzc2V0IjoiMHg4MzM1ODlmQ0Q2ZURiNkUwOGY0YzdDMzJENGY3MWI1NGJkQTAyOTEzIiwicGF5VG8iOiIweDIwOTY5M0JjNmFmYzBDNTMyOGJBMzZGYUYwM0M1MTRFRjMxMjI4N0MiLCJtYXhUaW1lb3V0U2Vjb25kcyI6NjAsImV4dHJhIjp7Im5hbWUiOiJVU0QgQ29pbiIsInZlcnNpb24iOiIyIn19XX0=
         */
        "PAYMENT-REQUIRED": string;
        /**
         * @description After a payment settled, whatever the answer: base64 of the receipt.
         * @example eyJzdWNjZXNzIjp0cnVlLCJ0cmFuc2FjdGlvbiI6IjB4NmYyYTlmNmY5YTdlNWMzZDFiMGE4ZTdkNmM1YjRhMzkyODE3MDZmNWU0ZDNjMmIxYTA5ZjhlN2Q2YzViNGEzOSIsIm5ldHdvcmsiOiJiYXNlIiwicGF5ZXIiOiIweDQwMjA2MTUyOTRjOTEzZjA0NWRjMTBmMGE1Y2RlYmQ4NmMyODAwMDEifQ==
         */
        "X-PAYMENT-RESPONSE": string;
        /**
         * @description The same receipt, as version 2 names it.
         * @example eyJzdWNjZXNzIjp0cnVlLCJ0cmFuc2FjdGlvbiI6IjB4NmYyYTlmNmY5YTdlNWMzZDFiMGE4ZTdkNmM1YjRhMzkyODE3MDZmNWU0ZDNjMmIxYTA5ZjhlN2Q2YzViNGEzOSIsIm5ldHdvcmsiOiJiYXNlIiwicGF5ZXIiOiIweDQwMjA2MTUyOTRjOTEzZjA0NWRjMTBmMGE1Y2RlYmQ4NmMyODAwMDEifQ==
         */
        "PAYMENT-RESPONSE": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getAccount: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description An id of the caller’s choosing for this request, to find it again in logs. Another form of it is left alone.
                 * @example 0b8f3c52-1a8e-4b61-9d2f-6c1f0e7a9b13
                 */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Who the caller is, which lane applies, and what every route costs. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "authenticated": false,
                     *       "key_present": false,
                     *       "key_recognised": null,
                     *       "tier": "anonymous",
                     *       "plan": null,
                     *       "lane": "x402",
                     *       "organisation": null,
                     *       "balance": null,
                     *       "balance_note": "No credential was sent, so there is no balance to show. This is not a zero balance.",
                     *       "metered_routes": [
                     *         {
                     *           "operation": "listFlows",
                     *           "method": "GET",
                     *           "path": "/flows",
                     *           "qu": 0,
                     *           "x402_usd": 0.001,
                     *           "range": null
                     *         },
                     *         {
                     *           "operation": "getGraph",
                     *           "method": "GET",
                     *           "path": "/graph",
                     *           "qu": 1,
                     *           "x402_usd": 0.005,
                     *           "range": null
                     *         },
                     *         {
                     *           "operation": "runSql",
                     *           "method": "POST",
                     *           "path": "/sql",
                     *           "qu": 1,
                     *           "x402_usd": 0.03,
                     *           "range": {
                     *             "unit": "started 5 seconds of engine time",
                     *             "qu": {
                     *               "min": 1,
                     *               "max": 60,
                     *               "per_unit": 1
                     *             },
                     *             "x402_usd": {
                     *               "min": 0.01,
                     *               "max": 0.03,
                     *               "per_unit": 0.01
                     *             }
                     *           }
                     *         },
                     *         {
                     *           "operation": "mintTrialKey",
                     *           "method": "GET",
                     *           "path": "/test/x402",
                     *           "qu": null,
                     *           "x402_usd": 0.01,
                     *           "range": null
                     *         }
                     *       ],
                     *       "sql_tiers": [
                     *         {
                     *           "tier": "standard",
                     *           "timeout_seconds": 15,
                     *           "max_qu": 3,
                     *           "requests_per_minute": 30,
                     *           "allowed": true,
                     *           "available": true,
                     *           "note": null
                     *         }
                     *       ],
                     *       "top_up_url": "https://index.example/plans",
                     *       "as_of": "2026-11-20T09:15:04Z",
                     *       "summary": "Lane x402: no key was sent, so priced routes are paid for call by call over x402."
                     *     }
                     */
                    "application/json": components["schemas"]["GetAccountAnswer"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    listFlows: {
        parameters: {
            query?: {
                /**
                 * @description Rows on a page, 1 to 100. Values outside are clamped, not refused.
                 * @example 10
                 */
                limit?: components["parameters"]["Limit"];
                /** @description Opaque cursor: `next_before` of the previous page, unchanged. Do not parse or construct it. */
                before?: components["parameters"]["Before"];
                /**
                 * @description Only this chain, by CAIP-2 name. Default: every chain this deployment indexes.
                 * @example eip155:8453
                 */
                chain?: components["parameters"]["Chain"];
                /** @description `finalized`: only settlements that no reorg can undo, by what each chain itself called final; a chain that has not stated a final block contributes none. `any` (default): all. A cursor may be used with either. */
                finality?: components["parameters"]["Finality"];
            };
            header?: {
                /**
                 * @description An id of the caller’s choosing for this request, to find it again in logs. Another form of it is left alone.
                 * @example 0b8f3c52-1a8e-4b61-9d2f-6c1f0e7a9b13
                 */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
                /**
                 * @description ETag of the answer that the caller has: 304 when there is nothing new. A call that is charged is answered in full.
                 * @example W/"Zk0T2mJ1qkR9n3vXw7cYb5LdPQs"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Base64 of a signed x402 payment for one of `accepts`. It goes before a key. Version 2 clients send the same as PAYMENT-SIGNATURE. */
                "X-PAYMENT"?: components["parameters"]["XPayment"];
                /** @description Base64 of a signed x402 payment, as version 2 names the header. */
                "PAYMENT-SIGNATURE"?: components["parameters"]["PaymentSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Newest settlements across every indexed chain, payer to payee. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "flows": [
                     *         {
                     *           "chain": "eip155:8453",
                     *           "block_number": 38412077,
                     *           "block_time": "2026-11-20T09:15:01Z",
                     *           "tx_hash": "0x6f2a9f6f9a7e5c3d1b0a8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a39",
                     *           "log_index": 214,
                     *           "payer": "0x4020615294c913f045dc10f0a5cdebd86c280001",
                     *           "payee": "0x8d4f05a0f2c1b3e49a7766554433221100ffeedd",
                     *           "asset": "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
                     *           "asset_symbol": "USDC",
                     *           "amount": "10000",
                     *           "amount_usd": 0.01,
                     *           "relayer": "0xdbdf3d8ed80f84c35d01c6c9f9271761bad90ba6",
                     *           "facilitator": "coinbase",
                     *           "is_self_payment": false,
                     *           "finality": "finalized",
                     *           "evidence": {
                     *             "verified": true,
                     *             "method": "facilitator_relay",
                     *             "probability": 1,
                     *             "tier": "proven",
                     *             "reasons": [
                     *               "authorization_used",
                     *               "direct_call",
                     *               "third_party_relay",
                     *               "relayer_named"
                     *             ]
                     *           },
                     *           "payer_name": null,
                     *           "payer_name_source": null,
                     *           "payee_name": "Weather by the call",
                     *           "payee_name_source": "agent_card",
                     *           "facilitator_name": "Coinbase"
                     *         }
                     *       ],
                     *       "next_before": null,
                     *       "meta": {
                     *         "chain": "eip155:8453",
                     *         "as_of": "2026-11-20T09:15:04Z",
                     *         "freshness": {
                     *           "chains": [
                     *             {
                     *               "chain": "eip155:8453",
                     *               "indexed_block": 38412078,
                     *               "indexed_at": "2026-11-20T09:15:03Z",
                     *               "head_block": 38412078,
                     *               "finalized_block": 38411402,
                     *               "lag_seconds": 1
                     *             }
                     *           ]
                     *         },
                     *         "page_self_payments": 0,
                     *         "page_self_payment_usd": 0,
                     *         "page_gross_usd": 0.01,
                     *         "page_organic_usd": 0.01
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ListFlowsAnswer"];
                };
            };
            /** @description Nothing changed since the tag in If-None-Match, and nothing was charged. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["KeyRequired"];
            402: components["responses"]["PaymentRequired"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["PaymentInProgress"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["SettlementUnknown"];
            503: components["responses"]["Unavailable"];
        };
    };
    listTransactions: {
        parameters: {
            query?: {
                /**
                 * @description Rows on a page, 1 to 100. Values outside are clamped, not refused.
                 * @example 10
                 */
                limit?: components["parameters"]["Limit"];
                /** @description Opaque cursor: `next_before` of the previous page, unchanged. Do not parse or construct it. */
                before?: components["parameters"]["Before"];
                /**
                 * @description Only this chain, by CAIP-2 name. Default: every chain this deployment indexes.
                 * @example eip155:8453
                 */
                chain?: components["parameters"]["Chain"];
                /**
                 * @description Only settlements relayed by this facilitator, by id.
                 * @example coinbase
                 */
                facilitator?: components["parameters"]["Facilitator"];
                /** @description Only settlements of this evidence tier. */
                tier?: "proven" | "probable" | "unproven" | "not_x402" | "ungraded";
                /** @description `finalized`: only settlements that no reorg can undo, by what each chain itself called final; a chain that has not stated a final block contributes none. `any` (default): all. A cursor may be used with either. */
                finality?: components["parameters"]["Finality"];
                /**
                 * @description Only settlements at or above this confidence, within [0,1]. Ungraded rows have none and are dropped. Applied after the page is read: follow next_before even from a short page.
                 * @example 0.7
                 */
                min_probability?: number;
                /** @description Whether to drop rows whose payer is the payee. Applied after the page is read: follow next_before even from a short page. */
                exclude_self_payments?: "true" | "false" | "1" | "0";
            };
            header?: {
                /**
                 * @description An id of the caller’s choosing for this request, to find it again in logs. Another form of it is left alone.
                 * @example 0b8f3c52-1a8e-4b61-9d2f-6c1f0e7a9b13
                 */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
                /**
                 * @description ETag of the answer that the caller has: 304 when there is nothing new. A call that is charged is answered in full.
                 * @example W/"Zk0T2mJ1qkR9n3vXw7cYb5LdPQs"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Base64 of a signed x402 payment for one of `accepts`. It goes before a key. Version 2 clients send the same as PAYMENT-SIGNATURE. */
                "X-PAYMENT"?: components["parameters"]["XPayment"];
                /** @description Base64 of a signed x402 payment, as version 2 names the header. */
                "PAYMENT-SIGNATURE"?: components["parameters"]["PaymentSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every indexed settlement, newest first, filterable by x402 confidence. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "transactions": [
                     *         {
                     *           "chain": "eip155:8453",
                     *           "block_number": 38412077,
                     *           "block_time": "2026-11-20T09:15:01Z",
                     *           "tx_hash": "0x6f2a9f6f9a7e5c3d1b0a8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a39",
                     *           "log_index": 214,
                     *           "payer": "0x4020615294c913f045dc10f0a5cdebd86c280001",
                     *           "payee": "0x8d4f05a0f2c1b3e49a7766554433221100ffeedd",
                     *           "asset": "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
                     *           "asset_symbol": "USDC",
                     *           "amount": "10000",
                     *           "amount_usd": 0.01,
                     *           "relayer": "0xdbdf3d8ed80f84c35d01c6c9f9271761bad90ba6",
                     *           "facilitator": "coinbase",
                     *           "is_self_payment": false,
                     *           "finality": "finalized",
                     *           "evidence": {
                     *             "verified": true,
                     *             "method": "facilitator_relay",
                     *             "probability": 1,
                     *             "tier": "proven",
                     *             "reasons": [
                     *               "authorization_used",
                     *               "direct_call",
                     *               "third_party_relay",
                     *               "relayer_named"
                     *             ]
                     *           }
                     *         }
                     *       ],
                     *       "next_before": null,
                     *       "meta": {
                     *         "chain": "eip155:8453",
                     *         "as_of": "2026-11-20T09:15:04Z",
                     *         "freshness": {
                     *           "chains": [
                     *             {
                     *               "chain": "eip155:8453",
                     *               "indexed_block": 38412078,
                     *               "indexed_at": "2026-11-20T09:15:03Z",
                     *               "head_block": 38412078,
                     *               "finalized_block": 38411402,
                     *               "lag_seconds": 1
                     *             }
                     *           ]
                     *         },
                     *         "page_self_payments": 0,
                     *         "page_self_payment_usd": 0,
                     *         "page_gross_usd": 0.01,
                     *         "page_organic_usd": 0.01
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ListTransactionsAnswer"];
                };
            };
            /** @description Nothing changed since the tag in If-None-Match, and nothing was charged. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["KeyRequired"];
            402: components["responses"]["PaymentRequired"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["PaymentInProgress"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["SettlementUnknown"];
            503: components["responses"]["Unavailable"];
        };
    };
    listEntitySettlements: {
        parameters: {
            query?: {
                /**
                 * @description Rows on a page, 1 to 100. Values outside are clamped, not refused.
                 * @example 10
                 */
                limit?: components["parameters"]["Limit"];
                /** @description Opaque cursor: `next_before` of the previous page, unchanged. Do not parse or construct it. */
                before?: components["parameters"]["Before"];
                /**
                 * @description Only this chain, by CAIP-2 name. Default: every chain this deployment indexes.
                 * @example eip155:8453
                 */
                chain?: components["parameters"]["Chain"];
                /** @description Only settlements where the wallet is the payer, or the payee. `any` (default) has both. */
                role?: components["parameters"]["Role"];
                /**
                 * @description Only settlements between the wallet and this address.
                 * @example 0x8d4f05a0f2c1b3e49a7766554433221100ffeedd
                 */
                counterparty?: string;
                /** @description `finalized`: only settlements that no reorg can undo, by what each chain itself called final; a chain that has not stated a final block contributes none. `any` (default): all. A cursor may be used with either. */
                finality?: components["parameters"]["Finality"];
            };
            header?: {
                /**
                 * @description An id of the caller’s choosing for this request, to find it again in logs. Another form of it is left alone.
                 * @example 0b8f3c52-1a8e-4b61-9d2f-6c1f0e7a9b13
                 */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
                /**
                 * @description ETag of the answer that the caller has: 304 when there is nothing new. A call that is charged is answered in full.
                 * @example W/"Zk0T2mJ1qkR9n3vXw7cYb5LdPQs"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Base64 of a signed x402 payment for one of `accepts`. It goes before a key. Version 2 clients send the same as PAYMENT-SIGNATURE. */
                "X-PAYMENT"?: components["parameters"]["XPayment"];
                /** @description Base64 of a signed x402 payment, as version 2 names the header. */
                "PAYMENT-SIGNATURE"?: components["parameters"]["PaymentSignature"];
            };
            path: {
                /**
                 * @description Wallet address, in any case; mixed case must match EIP-55.
                 * @example 0x4020615294c913f045dc10f0a5cdebd86c280001
                 */
                wallet: components["parameters"]["Wallet"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Settlements where a wallet is a party, newest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "wallet": "0x4020615294c913f045dc10f0a5cdebd86c280001",
                     *       "settlements": [
                     *         {
                     *           "chain": "eip155:8453",
                     *           "block_number": 38412077,
                     *           "block_time": "2026-11-20T09:15:01Z",
                     *           "tx_hash": "0x6f2a9f6f9a7e5c3d1b0a8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a39",
                     *           "log_index": 214,
                     *           "payer": "0x4020615294c913f045dc10f0a5cdebd86c280001",
                     *           "payee": "0x8d4f05a0f2c1b3e49a7766554433221100ffeedd",
                     *           "asset": "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
                     *           "asset_symbol": "USDC",
                     *           "amount": "10000",
                     *           "amount_usd": 0.01,
                     *           "relayer": "0xdbdf3d8ed80f84c35d01c6c9f9271761bad90ba6",
                     *           "facilitator": "coinbase",
                     *           "is_self_payment": false,
                     *           "finality": "finalized",
                     *           "evidence": {
                     *             "verified": true,
                     *             "method": "facilitator_relay",
                     *             "probability": 1,
                     *             "tier": "proven",
                     *             "reasons": [
                     *               "authorization_used",
                     *               "direct_call",
                     *               "third_party_relay",
                     *               "relayer_named"
                     *             ]
                     *           },
                     *           "payer_name": null,
                     *           "payer_name_source": null,
                     *           "payee_name": "Weather by the call",
                     *           "payee_name_source": "agent_card",
                     *           "facilitator_name": "Coinbase"
                     *         }
                     *       ],
                     *       "next_before": null,
                     *       "meta": {
                     *         "chain": "eip155:8453",
                     *         "as_of": "2026-11-20T09:15:04Z",
                     *         "freshness": {
                     *           "chains": [
                     *             {
                     *               "chain": "eip155:8453",
                     *               "indexed_block": 38412078,
                     *               "indexed_at": "2026-11-20T09:15:03Z",
                     *               "head_block": 38412078,
                     *               "finalized_block": 38411402,
                     *               "lag_seconds": 1
                     *             }
                     *           ]
                     *         },
                     *         "page_self_payments": 0,
                     *         "page_self_payment_usd": 0,
                     *         "page_gross_usd": 0.01,
                     *         "page_organic_usd": 0.01
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ListEntitySettlementsAnswer"];
                };
            };
            /** @description Nothing changed since the tag in If-None-Match, and nothing was charged. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["KeyRequired"];
            402: components["responses"]["PaymentRequired"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["PaymentInProgress"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["SettlementUnknown"];
            503: components["responses"]["Unavailable"];
        };
    };
    listWallets: {
        parameters: {
            query?: {
                /**
                 * @description Rows on a page, 1 to 100. Values outside are clamped, not refused.
                 * @example 10
                 */
                limit?: components["parameters"]["Limit"];
                /** @description Opaque cursor: `next_before` of the previous page, unchanged. Do not parse or construct it. */
                before?: components["parameters"]["Before"];
                /** @description Only settlements where the wallet is the payer, or the payee. `any` (default) has both. */
                role?: components["parameters"]["Role"];
                /**
                 * @description Only this chain, by CAIP-2 name, or `all`: every chain this deployment indexes, together. Default: the first chain of its configuration. `meta.chain` says which one was served.
                 * @example eip155:8453
                 */
                chain?: components["parameters"]["ChainOrAll"];
                /** @description `finalized`: only settlements that no reorg can undo, by what each chain itself called final; a chain that has not stated a final block contributes none. `any` (default): all. A cursor may be used with either. */
                finality?: components["parameters"]["Finality"];
            };
            header?: {
                /**
                 * @description An id of the caller’s choosing for this request, to find it again in logs. Another form of it is left alone.
                 * @example 0b8f3c52-1a8e-4b61-9d2f-6c1f0e7a9b13
                 */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
                /**
                 * @description ETag of the answer that the caller has: 304 when there is nothing new. A call that is charged is answered in full.
                 * @example W/"Zk0T2mJ1qkR9n3vXw7cYb5LdPQs"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Base64 of a signed x402 payment for one of `accepts`. It goes before a key. Version 2 clients send the same as PAYMENT-SIGNATURE. */
                "X-PAYMENT"?: components["parameters"]["XPayment"];
                /** @description Base64 of a signed x402 payment, as version 2 names the header. */
                "PAYMENT-SIGNATURE"?: components["parameters"]["PaymentSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every wallet of a chain, or of all chains, by address. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "wallets": [
                     *         {
                     *           "wallet": "0x8d4f05a0f2c1b3e49a7766554433221100ffeedd",
                     *           "name": "Weather by the call",
                     *           "name_source": "agent_card",
                     *           "roles": [
                     *             "payee"
                     *           ],
                     *           "settlement_count": 18204,
                     *           "first_seen": "2026-03-02T17:40:11Z",
                     *           "last_seen": "2026-11-20T09:15:01Z"
                     *         }
                     *       ],
                     *       "next_before": null,
                     *       "meta": {
                     *         "chain": "eip155:8453",
                     *         "as_of": "2026-11-20T09:15:04Z",
                     *         "freshness": {
                     *           "chains": [
                     *             {
                     *               "chain": "eip155:8453",
                     *               "indexed_block": 38412078,
                     *               "indexed_at": "2026-11-20T09:15:03Z",
                     *               "head_block": 38412078,
                     *               "finalized_block": 38411402,
                     *               "lag_seconds": 1
                     *             }
                     *           ]
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ListWalletsAnswer"];
                };
            };
            /** @description Nothing changed since the tag in If-None-Match, and nothing was charged. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["KeyRequired"];
            402: components["responses"]["PaymentRequired"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["PaymentInProgress"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["SettlementUnknown"];
            503: components["responses"]["Unavailable"];
        };
    };
    listFacilitators: {
        parameters: {
            query?: {
                /**
                 * @description Rows on a page, 1 to 100. Values outside are clamped, not refused.
                 * @example 10
                 */
                limit?: components["parameters"]["Limit"];
                /** @description Rows to skip: `next_offset` of the previous page. 0 to 10,000. */
                offset?: components["parameters"]["Offset"];
                /**
                 * @description Only this chain, by CAIP-2 name, or `all`: every chain this deployment indexes, together. Default: the first chain of its configuration. `meta.chain` says which one was served.
                 * @example eip155:8453
                 */
                chain?: components["parameters"]["ChainOrAll"];
                /**
                 * @description Only settlements relayed by this facilitator, by id.
                 * @example coinbase
                 */
                facilitator?: components["parameters"]["Facilitator"];
                /** @description Whether to list only relayers that a catalogue names. */
                named_only?: "true" | "false" | "1" | "0";
                /** @description Whether to list only relayers whose account was read from the chain. */
                enriched_only?: "true" | "false" | "1" | "0";
            };
            header?: {
                /**
                 * @description An id of the caller’s choosing for this request, to find it again in logs. Another form of it is left alone.
                 * @example 0b8f3c52-1a8e-4b61-9d2f-6c1f0e7a9b13
                 */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
                /**
                 * @description ETag of the answer that the caller has: 304 when there is nothing new. A call that is charged is answered in full.
                 * @example W/"Zk0T2mJ1qkR9n3vXw7cYb5LdPQs"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Base64 of a signed x402 payment for one of `accepts`. It goes before a key. Version 2 clients send the same as PAYMENT-SIGNATURE. */
                "X-PAYMENT"?: components["parameters"]["XPayment"];
                /** @description Base64 of a signed x402 payment, as version 2 names the header. */
                "PAYMENT-SIGNATURE"?: components["parameters"]["PaymentSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Relayers per chain, busiest first, with what their accounts hold. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "facilitators": [
                     *         {
                     *           "address": "0xdbdf3d8ed80f84c35d01c6c9f9271761bad90ba6",
                     *           "chain": "eip155:8453",
                     *           "facilitator": "coinbase",
                     *           "facilitator_name": "Coinbase",
                     *           "settlement_count": 4120377,
                     *           "settled_usd": 81344.207115,
                     *           "distinct_payers": 96120,
                     *           "distinct_payees": 2310,
                     *           "first_seen": "2025-05-05T18:02:47Z",
                     *           "last_seen": "2026-11-20T09:15:01Z",
                     *           "nonce": 4120391,
                     *           "gas_balance": "183204117702250048",
                     *           "enriched_at": "2026-11-20T09:10:00Z"
                     *         }
                     *       ],
                     *       "next_offset": 50,
                     *       "meta": {
                     *         "chain": "eip155:8453",
                     *         "as_of": "2026-11-20T09:15:04Z",
                     *         "freshness": {
                     *           "chains": [
                     *             {
                     *               "chain": "eip155:8453",
                     *               "indexed_block": 38412078,
                     *               "indexed_at": "2026-11-20T09:15:03Z",
                     *               "head_block": 38412078,
                     *               "finalized_block": 38411402,
                     *               "lag_seconds": 1
                     *             }
                     *           ]
                     *         },
                     *         "ranked_at": "2026-11-20T09:15:04Z",
                     *         "basis": {
                     *           "settlement_count": "exact",
                     *           "settled_usd": "exact",
                     *           "distinct_payers": "estimate",
                     *           "distinct_payees": "estimate",
                     *           "distinct_standard_error": 0.0081
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ListFacilitatorsAnswer"];
                };
            };
            /** @description Nothing changed since the tag in If-None-Match, and nothing was charged. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["KeyRequired"];
            402: components["responses"]["PaymentRequired"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["PaymentInProgress"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["SettlementUnknown"];
            503: components["responses"]["Unavailable"];
        };
    };
    getMerchant: {
        parameters: {
            query?: {
                /**
                 * @description Only this chain, by CAIP-2 name, or `all`: every chain this deployment indexes, together. Default: the first chain of its configuration. `meta.chain` says which one was served.
                 * @example eip155:8453
                 */
                chain?: components["parameters"]["ChainOrAll"];
                /** @description `finalized`: only settlements that no reorg can undo, by what each chain itself called final; a chain that has not stated a final block contributes none. `any` (default): all. A cursor may be used with either. */
                finality?: components["parameters"]["Finality"];
            };
            header?: {
                /**
                 * @description An id of the caller’s choosing for this request, to find it again in logs. Another form of it is left alone.
                 * @example 0b8f3c52-1a8e-4b61-9d2f-6c1f0e7a9b13
                 */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
                /**
                 * @description ETag of the answer that the caller has: 304 when there is nothing new. A call that is charged is answered in full.
                 * @example W/"Zk0T2mJ1qkR9n3vXw7cYb5LdPQs"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Base64 of a signed x402 payment for one of `accepts`. It goes before a key. Version 2 clients send the same as PAYMENT-SIGNATURE. */
                "X-PAYMENT"?: components["parameters"]["XPayment"];
                /** @description Base64 of a signed x402 payment, as version 2 names the header. */
                "PAYMENT-SIGNATURE"?: components["parameters"]["PaymentSignature"];
            };
            path: {
                /**
                 * @description Wallet address, in any case; mixed case must match EIP-55.
                 * @example 0x4020615294c913f045dc10f0a5cdebd86c280001
                 */
                address: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What a wallet was paid, and what the figures are worth. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "wallet": "0x8d4f05a0f2c1b3e49a7766554433221100ffeedd",
                     *       "role": "payee",
                     *       "coverage": {
                     *         "known": true,
                     *         "first_seen": "2026-11-20T00:02:11Z",
                     *         "last_seen": "2026-11-20T09:15:01Z",
                     *         "settlements_scanned": 125,
                     *         "scan_truncated": false,
                     *         "scan_cap": 20000
                     *       },
                     *       "entities": [
                     *         {
                     *           "kind": "payee",
                     *           "chain": "eip155:8453",
                     *           "name": "Weather by the call",
                     *           "source": "bazaar",
                     *           "resource": "https://weather.example/now"
                     *         }
                     *       ],
                     *       "erc8004_agents": [
                     *         {
                     *           "chain": "eip155:8453",
                     *           "agent_id": "2290",
                     *           "owner": "0x4020615294c913f045dc10f0a5cdebd86c280001",
                     *           "wallet": "0x8d4f05a0f2c1b3e49a7766554433221100ffeedd",
                     *           "name": "Weather by the call",
                     *           "name_imitates": null,
                     *           "description": "Forecasts and observations for any place, paid per call.",
                     *           "image": "https://weather.example/logo.png",
                     *           "agent_uri": "https://weather.example/agent-card.json",
                     *           "services": [
                     *             {
                     *               "name": "MCP",
                     *               "endpoint": "https://weather.example/mcp",
                     *               "version": "2025-06-18",
                     *               "skills": [],
                     *               "domains": []
                     *             }
                     *           ],
                     *           "capabilities": [
                     *             "weather"
                     *           ],
                     *           "supported_trust": [
                     *             "reputation"
                     *           ],
                     *           "x402_support": true,
                     *           "active": true,
                     *           "score": 92.34,
                     *           "rating_mean": 94.1,
                     *           "rating_count": 180,
                     *           "rating_clients": 120,
                     *           "paid_score": 88.2,
                     *           "paid_rating_count": 61,
                     *           "paid_rating_clients": 44,
                     *           "tag_scores": [
                     *             {
                     *               "tag": "starred",
                     *               "mean": 94.1,
                     *               "is_rating": true,
                     *               "feedback_count": 180,
                     *               "distinct_clients": 120
                     *             },
                     *             {
                     *               "tag": "responseTime",
                     *               "mean": 412.5,
                     *               "is_rating": false,
                     *               "feedback_count": 34,
                     *               "distinct_clients": 21
                     *             }
                     *           ],
                     *           "feedback_count": 214,
                     *           "distinct_clients": 131,
                     *           "registered_at": "2026-02-03T10:20:31Z",
                     *           "last_activity_at": "2026-11-20T09:15:01Z",
                     *           "activity_status": "active",
                     *           "card": {
                     *             "status": "good",
                     *             "problem": null,
                     *             "fetched_at": "2026-11-20T03:12:40Z"
                     *           },
                     *           "domain": "weather.example",
                     *           "domain_proof": "proven"
                     *         }
                     *       ],
                     *       "erc8004_agents_total": 1,
                     *       "aggregates": {
                     *         "inbound_usd": 1.25,
                     *         "inbound_count": 125,
                     *         "outbound_usd": 0,
                     *         "outbound_count": 0,
                     *         "distinct_counterparties": 41,
                     *         "self_payment_usd": 0,
                     *         "organic_usd": 1.25,
                     *         "proven_usd": 1.2,
                     *         "chain_split": [
                     *           {
                     *             "chain": "eip155:8453",
                     *             "inbound_usd": 1.25,
                     *             "inbound_count": 125,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           }
                     *         ],
                     *         "daily": [
                     *           {
                     *             "date": "2026-10-22",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-10-23",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-10-24",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-10-25",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-10-26",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-10-27",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-10-28",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-10-29",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-10-30",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-10-31",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-01",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-02",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-03",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-04",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-05",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-06",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-07",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-08",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-09",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-10",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-11",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-12",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-13",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-14",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-15",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-16",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-17",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-18",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-19",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-20",
                     *             "inbound_usd": 1.25,
                     *             "inbound_count": 125,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           }
                     *         ],
                     *         "basis": {
                     *           "totals": "exact",
                     *           "distinct_counterparties": "exact",
                     *           "signals": "all_settlements",
                     *           "finality": "any"
                     *         }
                     *       },
                     *       "data_quality": {
                     *         "verdict": "clean",
                     *         "note": "No signal reached its threshold.",
                     *         "signals": [
                     *           {
                     *             "id": "self_payment_share",
                     *             "value": 0,
                     *             "threshold": 0.1,
                     *             "triggered": false,
                     *             "method_version": "1"
                     *           },
                     *           {
                     *             "id": "payer_concentration",
                     *             "value": 0.0731,
                     *             "threshold": 0.25,
                     *             "triggered": false,
                     *             "method_version": "1"
                     *           },
                     *           {
                     *             "id": "single_payer_dominance",
                     *             "value": 0.16,
                     *             "threshold": 0.5,
                     *             "triggered": false,
                     *             "method_version": "1"
                     *           },
                     *           {
                     *             "id": "reciprocity",
                     *             "value": 0,
                     *             "threshold": 0.1,
                     *             "triggered": false,
                     *             "method_version": "1"
                     *           },
                     *           {
                     *             "id": "ring_membership",
                     *             "value": 0,
                     *             "threshold": 1,
                     *             "triggered": false,
                     *             "method_version": "1"
                     *           }
                     *         ]
                     *       },
                     *       "meta": {
                     *         "chain": "eip155:8453",
                     *         "as_of": "2026-11-20T09:15:04Z",
                     *         "freshness": {
                     *           "chains": [
                     *             {
                     *               "chain": "eip155:8453",
                     *               "indexed_block": 38412078,
                     *               "indexed_at": "2026-11-20T09:15:03Z",
                     *               "head_block": 38412078,
                     *               "finalized_block": 38411402,
                     *               "lag_seconds": 1
                     *             }
                     *           ]
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Profile"];
                };
            };
            /** @description Nothing changed since the tag in If-None-Match, and nothing was charged. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["KeyRequired"];
            402: components["responses"]["PaymentRequired"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["PaymentInProgress"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["SettlementUnknown"];
            503: components["responses"]["Unavailable"];
        };
    };
    getAgent: {
        parameters: {
            query?: {
                /**
                 * @description Only this chain, by CAIP-2 name, or `all`: every chain this deployment indexes, together. Default: the first chain of its configuration. `meta.chain` says which one was served.
                 * @example eip155:8453
                 */
                chain?: components["parameters"]["ChainOrAll"];
                /** @description `finalized`: only settlements that no reorg can undo, by what each chain itself called final; a chain that has not stated a final block contributes none. `any` (default): all. A cursor may be used with either. */
                finality?: components["parameters"]["Finality"];
            };
            header?: {
                /**
                 * @description An id of the caller’s choosing for this request, to find it again in logs. Another form of it is left alone.
                 * @example 0b8f3c52-1a8e-4b61-9d2f-6c1f0e7a9b13
                 */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
                /**
                 * @description ETag of the answer that the caller has: 304 when there is nothing new. A call that is charged is answered in full.
                 * @example W/"Zk0T2mJ1qkR9n3vXw7cYb5LdPQs"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Base64 of a signed x402 payment for one of `accepts`. It goes before a key. Version 2 clients send the same as PAYMENT-SIGNATURE. */
                "X-PAYMENT"?: components["parameters"]["XPayment"];
                /** @description Base64 of a signed x402 payment, as version 2 names the header. */
                "PAYMENT-SIGNATURE"?: components["parameters"]["PaymentSignature"];
            };
            path: {
                /**
                 * @description Wallet address, in any case; mixed case must match EIP-55.
                 * @example 0x4020615294c913f045dc10f0a5cdebd86c280001
                 */
                wallet: components["parameters"]["Wallet"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What a wallet paid, and what the figures are worth. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "wallet": "0x4020615294c913f045dc10f0a5cdebd86c280001",
                     *       "role": "payer",
                     *       "coverage": {
                     *         "known": true,
                     *         "first_seen": "2026-11-20T00:02:11Z",
                     *         "last_seen": "2026-11-20T09:15:01Z",
                     *         "settlements_scanned": 125,
                     *         "scan_truncated": false,
                     *         "scan_cap": 20000
                     *       },
                     *       "entities": [],
                     *       "erc8004_agents": [],
                     *       "erc8004_agents_total": 0,
                     *       "aggregates": {
                     *         "inbound_usd": 0,
                     *         "inbound_count": 0,
                     *         "outbound_usd": 1.25,
                     *         "outbound_count": 125,
                     *         "distinct_counterparties": 41,
                     *         "self_payment_usd": 0,
                     *         "organic_usd": 1.25,
                     *         "proven_usd": 1.2,
                     *         "chain_split": [
                     *           {
                     *             "chain": "eip155:8453",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 1.25,
                     *             "outbound_count": 125
                     *           }
                     *         ],
                     *         "daily": [
                     *           {
                     *             "date": "2026-10-22",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-10-23",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-10-24",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-10-25",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-10-26",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-10-27",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-10-28",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-10-29",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-10-30",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-10-31",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-01",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-02",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-03",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-04",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-05",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-06",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-07",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-08",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-09",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-10",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-11",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-12",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-13",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-14",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-15",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-16",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-17",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-18",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-19",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 0,
                     *             "outbound_count": 0
                     *           },
                     *           {
                     *             "date": "2026-11-20",
                     *             "inbound_usd": 0,
                     *             "inbound_count": 0,
                     *             "outbound_usd": 1.25,
                     *             "outbound_count": 125
                     *           }
                     *         ],
                     *         "basis": {
                     *           "totals": "exact",
                     *           "distinct_counterparties": "exact",
                     *           "signals": "all_settlements",
                     *           "finality": "any"
                     *         }
                     *       },
                     *       "data_quality": {
                     *         "verdict": "clean",
                     *         "note": "No signal reached its threshold.",
                     *         "signals": [
                     *           {
                     *             "id": "self_payment_share",
                     *             "value": 0,
                     *             "threshold": 0.1,
                     *             "triggered": false,
                     *             "method_version": "1"
                     *           },
                     *           {
                     *             "id": "payee_concentration",
                     *             "value": 0.0731,
                     *             "threshold": 0.25,
                     *             "triggered": false,
                     *             "method_version": "1"
                     *           },
                     *           {
                     *             "id": "single_payee_dominance",
                     *             "value": 0.16,
                     *             "threshold": 0.5,
                     *             "triggered": false,
                     *             "method_version": "1"
                     *           },
                     *           {
                     *             "id": "reciprocity",
                     *             "value": 0,
                     *             "threshold": 0.1,
                     *             "triggered": false,
                     *             "method_version": "1"
                     *           },
                     *           {
                     *             "id": "ring_membership",
                     *             "value": 0,
                     *             "threshold": 1,
                     *             "triggered": false,
                     *             "method_version": "1"
                     *           }
                     *         ]
                     *       },
                     *       "meta": {
                     *         "chain": "eip155:8453",
                     *         "as_of": "2026-11-20T09:15:04Z",
                     *         "freshness": {
                     *           "chains": [
                     *             {
                     *               "chain": "eip155:8453",
                     *               "indexed_block": 38412078,
                     *               "indexed_at": "2026-11-20T09:15:03Z",
                     *               "head_block": 38412078,
                     *               "finalized_block": 38411402,
                     *               "lag_seconds": 1
                     *             }
                     *           ]
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["Profile"];
                };
            };
            /** @description Nothing changed since the tag in If-None-Match, and nothing was charged. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["KeyRequired"];
            402: components["responses"]["PaymentRequired"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["PaymentInProgress"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["SettlementUnknown"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAgents: {
        parameters: {
            query?: {
                /**
                 * @description Rows on a page, 1 to 100. Values outside are clamped, not refused.
                 * @example 10
                 */
                limit?: components["parameters"]["Limit"];
                /** @description Opaque cursor: `next_before` of the previous page, unchanged. Do not parse or construct it. */
                before?: components["parameters"]["Before"];
                /**
                 * @description Only this chain, by CAIP-2 name, or `all`: every chain this deployment indexes, together. Default: the first chain of its configuration. `meta.chain` says which one was served.
                 * @example eip155:8453
                 */
                chain?: components["parameters"]["ChainOrAll"];
                /**
                 * @description Words that must all be words of the name or the description, whole and in any case. A word is a run of letters and digits of any script; of Chinese and Japanese each letter is one. Up to 100 characters and 32 words; an empty text filters nothing, one without a word is refused.
                 * @example weather
                 */
                q?: string;
                /**
                 * @description Only the agent with this id; ids are counted on each chain by itself.
                 * @example 2290
                 */
                agent_id?: string;
                /**
                 * @description Only agents that this address owns. What an address is paid with is on /agents/{wallet}.
                 * @example 0x4020615294c913f045dc10f0a5cdebd86c280001
                 */
                owner?: string;
                /**
                 * @description Only agents that offer this capability, by its slug as `/capabilities` lists it.
                 * @example web-search
                 */
                capability?: string;
                /** @description Only agents whose card declares x402; `false`: only those without such a card. Default: both. */
                x402_declared?: "true" | "false" | "1" | "0";
                /** @description Only agents whose card says that they are in service; `false`: only those whose card says that they are not. An agent without a card is neither. */
                active?: "true" | "false" | "1" | "0";
            };
            header?: {
                /**
                 * @description An id of the caller’s choosing for this request, to find it again in logs. Another form of it is left alone.
                 * @example 0b8f3c52-1a8e-4b61-9d2f-6c1f0e7a9b13
                 */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
                /**
                 * @description ETag of the answer that the caller has: 304 when there is nothing new. A call that is charged is answered in full.
                 * @example W/"Zk0T2mJ1qkR9n3vXw7cYb5LdPQs"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Base64 of a signed x402 payment for one of `accepts`. It goes before a key. Version 2 clients send the same as PAYMENT-SIGNATURE. */
                "X-PAYMENT"?: components["parameters"]["XPayment"];
                /** @description Base64 of a signed x402 payment, as version 2 names the header. */
                "PAYMENT-SIGNATURE"?: components["parameters"]["PaymentSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description ERC-8004 agents of a chain, newest registration first, by words, owner or capability. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "agents": [
                     *         {
                     *           "chain": "eip155:8453",
                     *           "agent_id": "2290",
                     *           "owner": "0x4020615294c913f045dc10f0a5cdebd86c280001",
                     *           "wallet": "0x8d4f05a0f2c1b3e49a7766554433221100ffeedd",
                     *           "name": "Weather by the call",
                     *           "name_imitates": null,
                     *           "description": "Forecasts and observations for any place, paid per call.",
                     *           "image": "https://weather.example/logo.png",
                     *           "agent_uri": "https://weather.example/agent-card.json",
                     *           "services": [
                     *             {
                     *               "name": "MCP",
                     *               "endpoint": "https://weather.example/mcp",
                     *               "version": "2025-06-18",
                     *               "skills": [],
                     *               "domains": []
                     *             }
                     *           ],
                     *           "capabilities": [
                     *             "weather"
                     *           ],
                     *           "supported_trust": [
                     *             "reputation"
                     *           ],
                     *           "x402_support": true,
                     *           "active": true,
                     *           "score": 92.34,
                     *           "rating_mean": 94.1,
                     *           "rating_count": 180,
                     *           "rating_clients": 120,
                     *           "paid_score": 88.2,
                     *           "paid_rating_count": 61,
                     *           "paid_rating_clients": 44,
                     *           "tag_scores": [
                     *             {
                     *               "tag": "starred",
                     *               "mean": 94.1,
                     *               "is_rating": true,
                     *               "feedback_count": 180,
                     *               "distinct_clients": 120
                     *             },
                     *             {
                     *               "tag": "responseTime",
                     *               "mean": 412.5,
                     *               "is_rating": false,
                     *               "feedback_count": 34,
                     *               "distinct_clients": 21
                     *             }
                     *           ],
                     *           "feedback_count": 214,
                     *           "distinct_clients": 131,
                     *           "registered_at": "2026-02-03T10:20:31Z",
                     *           "last_activity_at": "2026-11-20T09:15:01Z",
                     *           "activity_status": "active",
                     *           "card": {
                     *             "status": "good",
                     *             "problem": null,
                     *             "fetched_at": "2026-11-20T03:12:40Z"
                     *           },
                     *           "domain": "weather.example",
                     *           "domain_proof": "proven"
                     *         }
                     *       ],
                     *       "next_before": null,
                     *       "meta": {
                     *         "chain": "eip155:8453",
                     *         "as_of": "2026-11-20T09:15:04Z",
                     *         "freshness": {
                     *           "chains": [
                     *             {
                     *               "chain": "eip155:8453",
                     *               "indexed_block": 38412078,
                     *               "indexed_at": "2026-11-20T09:15:03Z",
                     *               "head_block": 38412078,
                     *               "finalized_block": 38411402,
                     *               "lag_seconds": 1
                     *             }
                     *           ]
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ListAgentsAnswer"];
                };
            };
            /** @description Nothing changed since the tag in If-None-Match, and nothing was charged. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["KeyRequired"];
            402: components["responses"]["PaymentRequired"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["PaymentInProgress"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["SettlementUnknown"];
            503: components["responses"]["Unavailable"];
        };
    };
    getLeaderboard: {
        parameters: {
            query?: {
                /**
                 * @description Rows on a page, 1 to 100. Values outside are clamped, not refused.
                 * @example 10
                 */
                limit?: components["parameters"]["Limit"];
                /** @description Rows to skip: `next_offset` of the previous page. 0 to 1,000,000. */
                offset?: number;
                /**
                 * @description Only this chain, by CAIP-2 name, or `all`: every chain this deployment indexes, together. Default: the first chain of its configuration. `meta.chain` says which one was served.
                 * @example eip155:8453
                 */
                chain?: components["parameters"]["ChainOrAll"];
                /**
                 * @description rating: by `score`, of all ratings. paid: by `paid_score`, of the ratings whose proof of payment was verified. Default: rating.
                 * @example paid
                 */
                by?: "rating" | "paid";
                /** @description Whether agents without a score (no rating stands, or with `by=paid` none that proves a payment) are listed too, below those with one, by chain and agent_id. */
                include_spam?: "true" | "false" | "1" | "0";
            };
            header?: {
                /**
                 * @description An id of the caller’s choosing for this request, to find it again in logs. Another form of it is left alone.
                 * @example 0b8f3c52-1a8e-4b61-9d2f-6c1f0e7a9b13
                 */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
                /**
                 * @description ETag of the answer that the caller has: 304 when there is nothing new. A call that is charged is answered in full.
                 * @example W/"Zk0T2mJ1qkR9n3vXw7cYb5LdPQs"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Base64 of a signed x402 payment for one of `accepts`. It goes before a key. Version 2 clients send the same as PAYMENT-SIGNATURE. */
                "X-PAYMENT"?: components["parameters"]["XPayment"];
                /** @description Base64 of a signed x402 payment, as version 2 names the header. */
                "PAYMENT-SIGNATURE"?: components["parameters"]["PaymentSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description ERC-8004 agents by what clients rated them, best first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "leaderboard": [
                     *         {
                     *           "rank": 1,
                     *           "chain": "eip155:8453",
                     *           "agent_id": "2290",
                     *           "owner": "0x4020615294c913f045dc10f0a5cdebd86c280001",
                     *           "wallet": "0x8d4f05a0f2c1b3e49a7766554433221100ffeedd",
                     *           "name": "Weather by the call",
                     *           "name_imitates": null,
                     *           "description": "Forecasts and observations for any place, paid per call.",
                     *           "image": "https://weather.example/logo.png",
                     *           "agent_uri": "https://weather.example/agent-card.json",
                     *           "services": [
                     *             {
                     *               "name": "MCP",
                     *               "endpoint": "https://weather.example/mcp",
                     *               "version": "2025-06-18",
                     *               "skills": [],
                     *               "domains": []
                     *             }
                     *           ],
                     *           "capabilities": [
                     *             "weather"
                     *           ],
                     *           "supported_trust": [
                     *             "reputation"
                     *           ],
                     *           "x402_support": true,
                     *           "active": true,
                     *           "score": 92.34,
                     *           "rating_mean": 94.1,
                     *           "rating_count": 180,
                     *           "rating_clients": 120,
                     *           "paid_score": 88.2,
                     *           "paid_rating_count": 61,
                     *           "paid_rating_clients": 44,
                     *           "tag_scores": [
                     *             {
                     *               "tag": "starred",
                     *               "mean": 94.1,
                     *               "is_rating": true,
                     *               "feedback_count": 180,
                     *               "distinct_clients": 120
                     *             },
                     *             {
                     *               "tag": "responseTime",
                     *               "mean": 412.5,
                     *               "is_rating": false,
                     *               "feedback_count": 34,
                     *               "distinct_clients": 21
                     *             }
                     *           ],
                     *           "feedback_count": 214,
                     *           "distinct_clients": 131,
                     *           "registered_at": "2026-02-03T10:20:31Z",
                     *           "last_activity_at": "2026-11-20T09:15:01Z",
                     *           "activity_status": "active",
                     *           "card": {
                     *             "status": "good",
                     *             "problem": null,
                     *             "fetched_at": "2026-11-20T03:12:40Z"
                     *           },
                     *           "domain": "weather.example",
                     *           "domain_proof": "proven"
                     *         }
                     *       ],
                     *       "next_offset": 50,
                     *       "meta": {
                     *         "chain": "eip155:8453",
                     *         "as_of": "2026-11-20T09:15:04Z",
                     *         "freshness": {
                     *           "chains": [
                     *             {
                     *               "chain": "eip155:8453",
                     *               "indexed_block": 38412078,
                     *               "indexed_at": "2026-11-20T09:15:03Z",
                     *               "head_block": 38412078,
                     *               "finalized_block": 38411402,
                     *               "lag_seconds": 1
                     *             }
                     *           ]
                     *         },
                     *         "page_scored_agents": 1,
                     *         "ranked_at": "2026-11-20T09:15:04Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["GetLeaderboardAnswer"];
                };
            };
            /** @description Nothing changed since the tag in If-None-Match, and nothing was charged. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["KeyRequired"];
            402: components["responses"]["PaymentRequired"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["PaymentInProgress"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["SettlementUnknown"];
            503: components["responses"]["Unavailable"];
        };
    };
    listAttestations: {
        parameters: {
            query?: {
                /**
                 * @description Rows on a page, 1 to 100. Values outside are clamped, not refused.
                 * @example 10
                 */
                limit?: components["parameters"]["Limit"];
                /** @description Opaque cursor: `next_before` of the previous page, unchanged. Do not parse or construct it. */
                before?: components["parameters"]["Before"];
                /**
                 * @description Only this chain, by CAIP-2 name, or `all`: every chain this deployment indexes, together. Default: the first chain of its configuration. `meta.chain` says which one was served.
                 * @example eip155:8453
                 */
                chain?: components["parameters"]["ChainOrAll"];
                /**
                 * @description Only what is about the agent with this id, on the chain that `chain` names; ids are counted on each chain by itself.
                 * @example 2290
                 */
                agent_id?: string;
                /**
                 * @description Only feedback that this address gave, and what answers or revokes such feedback. Validations have no client.
                 * @example 0x4020615294c913f045dc10f0a5cdebd86c280001
                 */
                client?: string;
                /**
                 * @description Only rows whose tag1 or tag2 was logged as exactly this text of at most 256 characters. What is shown of a tag is made safe to show and may differ.
                 * @example starred
                 */
                tag?: string;
                /**
                 * @description Only rows of this kind.
                 * @example feedback
                 */
                kind?: "feedback" | "response" | "revocation" | "validation_request" | "validation_response";
            };
            header?: {
                /**
                 * @description An id of the caller’s choosing for this request, to find it again in logs. Another form of it is left alone.
                 * @example 0b8f3c52-1a8e-4b61-9d2f-6c1f0e7a9b13
                 */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
                /**
                 * @description ETag of the answer that the caller has: 304 when there is nothing new. A call that is charged is answered in full.
                 * @example W/"Zk0T2mJ1qkR9n3vXw7cYb5LdPQs"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Base64 of a signed x402 payment for one of `accepts`. It goes before a key. Version 2 clients send the same as PAYMENT-SIGNATURE. */
                "X-PAYMENT"?: components["parameters"]["XPayment"];
                /** @description Base64 of a signed x402 payment, as version 2 names the header. */
                "PAYMENT-SIGNATURE"?: components["parameters"]["PaymentSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description ERC-8004 feedback, responses, revocations and validations, newest first. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "attestations": [
                     *         {
                     *           "chain": "eip155:8453",
                     *           "agent_id": "2290",
                     *           "agent_name": "Weather by the call",
                     *           "kind": "feedback",
                     *           "author": "0x4020615294c913f045dc10f0a5cdebd86c280001",
                     *           "client": "0x4020615294c913f045dc10f0a5cdebd86c280001",
                     *           "feedback_index": "3",
                     *           "value": 92.5,
                     *           "value_raw": "925",
                     *           "value_decimals": 1,
                     *           "tag1": "starred",
                     *           "tag2": null,
                     *           "is_rating": true,
                     *           "tag_score": {
                     *             "tag": "starred",
                     *             "mean": 94.1,
                     *             "is_rating": true,
                     *             "feedback_count": 180,
                     *             "distinct_clients": 120
                     *           },
                     *           "endpoint": "https://weather.example/mcp",
                     *           "uri": "ipfs://bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy",
                     *           "file_hash": "0x3c1b0a8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a396f2a9f6f9a7e5c",
                     *           "request_hash": null,
                     *           "revoked": false,
                     *           "file": {
                     *             "status": "good",
                     *             "problem": null,
                     *             "hash_matches": true
                     *           },
                     *           "proof_of_payment": {
                     *             "chain": "eip155:8453",
                     *             "tx_hash": "0x6f2a9f6f9a7e5c3d1b0a8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a39",
                     *             "from": "0x4020615294c913f045dc10f0a5cdebd86c280001",
                     *             "to": "0x8d4f05a0f2c1b3e49a7766554433221100ffeedd",
                     *             "status": "proven",
                     *             "settlement": {
                     *               "log_index": 214,
                     *               "amount": "10000",
                     *               "amount_usd": 0.01,
                     *               "payer": "0x4020615294c913f045dc10f0a5cdebd86c280001",
                     *               "payee": "0x8d4f05a0f2c1b3e49a7766554433221100ffeedd"
                     *             }
                     *           },
                     *           "block_number": 38412101,
                     *           "block_time": "2026-11-20T09:15:49Z",
                     *           "tx_hash": "0xb1a09f8e7d6c5b4a396f2a9f6f9a7e5c3c1b0a8e7d6c5b4a39281706f5e4d3c2",
                     *           "log_index": 31,
                     *           "finality": "head"
                     *         }
                     *       ],
                     *       "next_before": null,
                     *       "meta": {
                     *         "chain": "eip155:8453",
                     *         "as_of": "2026-11-20T09:15:04Z",
                     *         "freshness": {
                     *           "chains": [
                     *             {
                     *               "chain": "eip155:8453",
                     *               "indexed_block": 38412078,
                     *               "indexed_at": "2026-11-20T09:15:03Z",
                     *               "head_block": 38412078,
                     *               "finalized_block": 38411402,
                     *               "lag_seconds": 1
                     *             }
                     *           ]
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ListAttestationsAnswer"];
                };
            };
            /** @description Nothing changed since the tag in If-None-Match, and nothing was charged. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["KeyRequired"];
            402: components["responses"]["PaymentRequired"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["PaymentInProgress"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["SettlementUnknown"];
            503: components["responses"]["Unavailable"];
        };
    };
    getGraph: {
        parameters: {
            query?: {
                /**
                 * @description The newest so many settlements, up to the tip: 1 to 50000. Exactly one of `window` and `days` must be sent.
                 * @example 1000
                 */
                window?: number;
                /** @description So many whole UTC days before today: 1 to 90. Exactly one of `window` and `days` must be sent. */
                days?: number;
                /**
                 * @description Only settlements that this wallet is a party of: the graph around it.
                 * @example 0x8d4f05a0f2c1b3e49a7766554433221100ffeedd
                 */
                wallet?: string;
                /**
                 * @description Only this chain, by CAIP-2 name, or `all`: every chain this deployment indexes, together. Default: the first chain of its configuration. `meta.chain` says which one was served.
                 * @example eip155:8453
                 */
                chain?: components["parameters"]["ChainOrAll"];
                /** @description Edges shown, largest first, 1 to 5000. Values outside are clamped, not refused. */
                max_edges?: number;
                /** @description `finalized`: only settlements that no reorg can undo, by what each chain itself called final; a chain that has not stated a final block contributes none. `any` (default): all. A cursor may be used with either. */
                finality?: components["parameters"]["Finality"];
            };
            header?: {
                /**
                 * @description An id of the caller’s choosing for this request, to find it again in logs. Another form of it is left alone.
                 * @example 0b8f3c52-1a8e-4b61-9d2f-6c1f0e7a9b13
                 */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
                /**
                 * @description ETag of the answer that the caller has: 304 when there is nothing new. A call that is charged is answered in full.
                 * @example W/"Zk0T2mJ1qkR9n3vXw7cYb5LdPQs"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Base64 of a signed x402 payment for one of `accepts`. It goes before a key. Version 2 clients send the same as PAYMENT-SIGNATURE. */
                "X-PAYMENT"?: components["parameters"]["XPayment"];
                /** @description Base64 of a signed x402 payment, as version 2 names the header. */
                "PAYMENT-SIGNATURE"?: components["parameters"]["PaymentSignature"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Who pays whom: wallets and the sums between them. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "applied": {
                     *         "form": "days",
                     *         "window": null,
                     *         "days": 7,
                     *         "wallet": null,
                     *         "chain": "eip155:8453",
                     *         "finality": "any",
                     *         "max_edges": 1000
                     *       },
                     *       "complete": true,
                     *       "days": 7,
                     *       "since": "2026-11-13T00:00:00Z",
                     *       "until": "2026-11-20T00:00:00Z",
                     *       "nodes": [
                     *         {
                     *           "wallet": "0x4020615294c913f045dc10f0a5cdebd86c280001",
                     *           "name": "Weather by the call",
                     *           "name_source": "agent_card",
                     *           "window_usd": 1.25,
                     *           "window_count": 125,
                     *           "in_usd": 1.25,
                     *           "out_usd": 0
                     *         },
                     *         {
                     *           "wallet": "0x8ba1f109551bd432803012645ac136ddd64dba72",
                     *           "name": null,
                     *           "name_source": null,
                     *           "window_usd": 1.25,
                     *           "window_count": 125,
                     *           "in_usd": 0,
                     *           "out_usd": 1.25
                     *         }
                     *       ],
                     *       "edges": [
                     *         {
                     *           "payer": "0x8ba1f109551bd432803012645ac136ddd64dba72",
                     *           "payee": "0x4020615294c913f045dc10f0a5cdebd86c280001",
                     *           "usd": 1.25,
                     *           "count": 125,
                     *           "first_seen": "2026-11-13T08:00:01Z",
                     *           "last_seen": "2026-11-19T21:12:47Z"
                     *         }
                     *       ],
                     *       "meta": {
                     *         "chain": "eip155:8453",
                     *         "as_of": "2026-11-20T09:15:04Z",
                     *         "freshness": {
                     *           "chains": [
                     *             {
                     *               "chain": "eip155:8453",
                     *               "indexed_block": 38412078,
                     *               "indexed_at": "2026-11-20T09:15:03Z",
                     *               "head_block": 38412078,
                     *               "finalized_block": 38411402,
                     *               "lag_seconds": 1
                     *             }
                     *           ]
                     *         },
                     *         "excluded": {
                     *           "self_payments": 0,
                     *           "self_payment_usd": 0
                     *         }
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["GetGraphAnswer"];
                };
            };
            /** @description Nothing changed since the tag in If-None-Match, and nothing was charged. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["KeyRequired"];
            402: components["responses"]["UnitsOrPaymentRequired"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["PaymentInProgress"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["SettlementUnknown"];
            503: components["responses"]["Unavailable"];
        };
    };
    listCapabilities: {
        parameters: {
            query?: {
                /** @description `compact`: slug, name and provider_count alone. `all` (default): everything. */
                fields?: "all" | "compact";
            };
            header?: {
                /**
                 * @description An id of the caller’s choosing for this request, to find it again in logs. Another form of it is left alone.
                 * @example 0b8f3c52-1a8e-4b61-9d2f-6c1f0e7a9b13
                 */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
                /**
                 * @description ETag of the answer that the caller has: 304 when there is nothing new. A call that is charged is answered in full.
                 * @example W/"Zk0T2mJ1qkR9n3vXw7cYb5LdPQs"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The jobs that services offer, and how many offer them. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "capabilities": [
                     *         {
                     *           "slug": "web-search",
                     *           "name": "Web search",
                     *           "group": "web",
                     *           "unit": "query",
                     *           "summary": "Finds pages on the web for a question or keywords.",
                     *           "provider_count": 41,
                     *           "endpoint_count": 118,
                     *           "agent_count": 96
                     *         }
                     *       ],
                     *       "meta": {
                     *         "as_of": "2026-11-20T09:15:04Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ListCapabilitiesAnswer"];
                };
            };
            /** @description Nothing changed since the tag in If-None-Match, and nothing was charged. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["InvalidApiKey"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getCapability: {
        parameters: {
            query?: {
                /**
                 * @description Rows on a page, 1 to 100. Values outside are clamped, not refused.
                 * @example 10
                 */
                limit?: components["parameters"]["Limit"];
            };
            header?: {
                /**
                 * @description An id of the caller’s choosing for this request, to find it again in logs. Another form of it is left alone.
                 * @example 0b8f3c52-1a8e-4b61-9d2f-6c1f0e7a9b13
                 */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
                /**
                 * @description ETag of the answer that the caller has: 304 when there is nothing new. A call that is charged is answered in full.
                 * @example W/"Zk0T2mJ1qkR9n3vXw7cYb5LdPQs"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
                /** @description Base64 of a signed x402 payment for one of `accepts`. It goes before a key. Version 2 clients send the same as PAYMENT-SIGNATURE. */
                "X-PAYMENT"?: components["parameters"]["XPayment"];
                /** @description Base64 of a signed x402 payment, as version 2 names the header. */
                "PAYMENT-SIGNATURE"?: components["parameters"]["PaymentSignature"];
            };
            path: {
                /**
                 * @description A capability, by its slug as `/capabilities` lists it.
                 * @example web-search
                 */
                slug: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Who offers one job, at what price, and what they were really paid. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "capability": {
                     *         "slug": "web-search",
                     *         "name": "Web search",
                     *         "group": "web",
                     *         "unit": "query",
                     *         "summary": "Finds pages on the web for a question or keywords.",
                     *         "provider_count": 41,
                     *         "endpoint_count": 118,
                     *         "agent_count": 96
                     *       },
                     *       "going_rate": {
                     *         "p25_usd": 0.002,
                     *         "p50_usd": 0.005,
                     *         "p75_usd": 0.01,
                     *         "offers": 112
                     *       },
                     *       "offers": [
                     *         {
                     *           "resource": "https://weather.example/v1/forecast",
                     *           "method": "GET",
                     *           "service_name": "Weather by the call",
                     *           "description": "Hourly forecast for a place, seven days ahead.",
                     *           "mime_type": "application/json",
                     *           "accepts": [
                     *             {
                     *               "scheme": "exact",
                     *               "network": "base",
                     *               "chain": "eip155:8453",
                     *               "asset": "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
                     *               "amount": "10000",
                     *               "price_usd": 0.01,
                     *               "pay_to": "0x4020615294c913f045dc10f0a5cdebd86c280001",
                     *               "source": "bazaar:coinbase",
                     *               "max_timeout_seconds": 60,
                     *               "settlement_count_30d": 18204
                     *             }
                     *           ],
                     *           "price_usd": 0.01,
                     *           "pay_to": "0x4020615294c913f045dc10f0a5cdebd86c280001",
                     *           "network": "base",
                     *           "published_by_domain": true,
                     *           "contested": false,
                     *           "claimants": [
                     *             {
                     *               "pay_to": "0x4020615294c913f045dc10f0a5cdebd86c280001",
                     *               "published_by_domain": true,
                     *               "settlement_count_30d": 18204,
                     *               "listed_since": "2026-08-02T11:20:00Z",
                     *               "networks": [
                     *                 "base"
                     *               ],
                     *               "sources": [
                     *                 "bazaar:coinbase",
                     *                 "well_known:https://weather.example"
                     *               ]
                     *             }
                     *           ],
                     *           "tags": [
                     *             "weather"
                     *           ],
                     *           "capabilities": [
                     *             "weather"
                     *           ],
                     *           "last_updated": "2026-11-19T06:40:12Z",
                     *           "observed": {
                     *             "settlement_count_30d": 18204,
                     *             "unique_payers_30d": 311,
                     *             "settled_usd_30d": 182.04,
                     *             "last_settled_at": "2026-11-20T09:14:57Z",
                     *             "since": "2026-10-22T00:00:00Z",
                     *             "resources_on_same_terms": 0
                     *           },
                     *           "payee_observed": {
                     *             "settlement_count_30d": 20911,
                     *             "unique_payers_30d": 342,
                     *             "settled_usd_30d": 317.4,
                     *             "last_settled_at": "2026-11-20T09:14:57Z"
                     *           },
                     *           "shared_pay_to": true,
                     *           "stale": false
                     *         }
                     *       ],
                     *       "offers_total": 118,
                     *       "agents": [
                     *         {
                     *           "chain": "eip155:8453",
                     *           "agent_id": "2290",
                     *           "name": "Searchlight",
                     *           "wallet": "0x8d4f05a0f2c1b3e49a7766554433221100ffeedd",
                     *           "x402_support": true,
                     *           "score": 92.34,
                     *           "feedback_count": 214
                     *         }
                     *       ],
                     *       "meta": {
                     *         "as_of": "2026-11-20T09:15:04Z"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["GetCapabilityAnswer"];
                };
            };
            /** @description Nothing changed since the tag in If-None-Match, and nothing was charged. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["KeyRequired"];
            402: components["responses"]["PaymentRequired"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            409: components["responses"]["PaymentInProgress"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["SettlementUnknown"];
            503: components["responses"]["Unavailable"];
        };
    };
    listEndpoints: {
        parameters: {
            query?: {
                /**
                 * @description Rows on a page, 1 to 100. Values outside are clamped, not refused.
                 * @example 10
                 */
                limit?: components["parameters"]["Limit"];
                /** @description Rows to skip: `next_offset` of the previous page. 0 to 10,000. */
                offset?: components["parameters"]["Offset"];
                /**
                 * @description Words that must all occur in the URL, the name of the service, the description or a tag, in any case, also as parts of longer words. Up to 8 words, 200 characters.
                 * @example weather
                 */
                q?: string;
                /**
                 * @description Only endpoints that offer this capability, by its slug as `/capabilities` lists it.
                 * @example web-search
                 */
                capability?: string;
                /**
                 * @description Only endpoints with this tag, in any case.
                 * @example weather
                 */
                tag?: string;
                /**
                 * @description Only endpoints with an offer that is paid to this address, headline or not. EVM addresses in any case.
                 * @example 0x4020615294c913f045dc10f0a5cdebd86c280001
                 */
                pay_to?: string;
                /**
                 * @description Only endpoints with an offer on this chain, by CAIP-2 name. Default: every network.
                 * @example eip155:8453
                 */
                chain?: string;
                /**
                 * @description Only endpoints with an offer on this network, as it is published: `base`, `eip155:8453`, `solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp`. `chain` finds an EVM chain under each of its names.
                 * @example base
                 */
                network?: string;
                /**
                 * @description Only endpoints whose headline offer (`price_usd`) costs at most so many dollars. Those without a known price are left out.
                 * @example 0.01
                 */
                max_price_usd?: number;
            };
            header?: {
                /**
                 * @description An id of the caller’s choosing for this request, to find it again in logs. Another form of it is left alone.
                 * @example 0b8f3c52-1a8e-4b61-9d2f-6c1f0e7a9b13
                 */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
                /**
                 * @description ETag of the answer that the caller has: 304 when there is nothing new. A call that is charged is answered in full.
                 * @example W/"Zk0T2mJ1qkR9n3vXw7cYb5LdPQs"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Priced directory of services, most paid first, with what was observed of each offer. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "endpoints": [
                     *         {
                     *           "resource": "https://weather.example/v1/forecast",
                     *           "method": "GET",
                     *           "service_name": "Weather by the call",
                     *           "description": "Hourly forecast for a place, seven days ahead.",
                     *           "mime_type": "application/json",
                     *           "accepts": [
                     *             {
                     *               "scheme": "exact",
                     *               "network": "base",
                     *               "chain": "eip155:8453",
                     *               "asset": "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
                     *               "amount": "10000",
                     *               "price_usd": 0.01,
                     *               "pay_to": "0x4020615294c913f045dc10f0a5cdebd86c280001",
                     *               "source": "bazaar:coinbase",
                     *               "max_timeout_seconds": 60,
                     *               "settlement_count_30d": 18204
                     *             }
                     *           ],
                     *           "price_usd": 0.01,
                     *           "pay_to": "0x4020615294c913f045dc10f0a5cdebd86c280001",
                     *           "network": "base",
                     *           "published_by_domain": true,
                     *           "contested": false,
                     *           "claimants": [
                     *             {
                     *               "pay_to": "0x4020615294c913f045dc10f0a5cdebd86c280001",
                     *               "published_by_domain": true,
                     *               "settlement_count_30d": 18204,
                     *               "listed_since": "2026-08-02T11:20:00Z",
                     *               "networks": [
                     *                 "base"
                     *               ],
                     *               "sources": [
                     *                 "bazaar:coinbase",
                     *                 "well_known:https://weather.example"
                     *               ]
                     *             }
                     *           ],
                     *           "tags": [
                     *             "weather"
                     *           ],
                     *           "capabilities": [
                     *             "weather"
                     *           ],
                     *           "last_updated": "2026-11-19T06:40:12Z",
                     *           "observed": {
                     *             "settlement_count_30d": 18204,
                     *             "unique_payers_30d": 311,
                     *             "settled_usd_30d": 182.04,
                     *             "last_settled_at": "2026-11-20T09:14:57Z",
                     *             "since": "2026-10-22T00:00:00Z",
                     *             "resources_on_same_terms": 0
                     *           },
                     *           "payee_observed": {
                     *             "settlement_count_30d": 20911,
                     *             "unique_payers_30d": 342,
                     *             "settled_usd_30d": 317.4,
                     *             "last_settled_at": "2026-11-20T09:14:57Z"
                     *           },
                     *           "shared_pay_to": true,
                     *           "stale": false
                     *         }
                     *       ],
                     *       "next_offset": 50,
                     *       "meta": {
                     *         "chain": "eip155:8453",
                     *         "as_of": "2026-11-20T09:15:04Z",
                     *         "freshness": {
                     *           "chains": [
                     *             {
                     *               "chain": "eip155:8453",
                     *               "indexed_block": 38412078,
                     *               "indexed_at": "2026-11-20T09:15:03Z",
                     *               "head_block": 38412078,
                     *               "finalized_block": 38411402,
                     *               "lag_seconds": 1
                     *             }
                     *           ]
                     *         },
                     *         "sources": [
                     *           {
                     *             "source": "bazaar:coinbase",
                     *             "kind": "bazaar",
                     *             "host": "facilitator.example",
                     *             "offers": 14810,
                     *             "tried_at": "2026-11-20T08:31:40Z",
                     *             "good_at": "2026-11-20T08:31:40Z",
                     *             "problem": null,
                     *             "stale": false
                     *           }
                     *         ]
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["ListEndpointsAnswer"];
                };
            };
            /** @description Nothing changed since the tag in If-None-Match, and nothing was charged. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    Link: components["headers"]["Link"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["InvalidApiKey"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getTelemetry: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description An id of the caller’s choosing for this request, to find it again in logs. Another form of it is left alone.
                 * @example 0b8f3c52-1a8e-4b61-9d2f-6c1f0e7a9b13
                 */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Health of the index: freshness, ingest rate and faults per chain. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok",
                     *       "version": "0.1.0",
                     *       "uptime_seconds": 86400,
                     *       "engine": {
                     *         "status": "ok",
                     *         "uptime_seconds": 86399,
                     *         "answered_at": "2026-11-20T09:15:04Z"
                     *       },
                     *       "sql": {
                     *         "open_to": "everyone"
                     *       },
                     *       "chains": [
                     *         {
                     *           "chain": "eip155:8453",
                     *           "indexed_block": 38412078,
                     *           "indexed_at": "2026-11-20T09:15:03Z",
                     *           "head_block": 38412078,
                     *           "finalized_block": 38411402,
                     *           "lag_seconds": 1,
                     *           "state": "following",
                     *           "sample_data_to": null,
                     *           "provider": "answers",
                     *           "backfill": {
                     *             "blocks_done": 43200,
                     *             "blocks_total": 43200,
                     *             "percent": 100,
                     *             "eta_seconds": 0
                     *           },
                     *           "rows_per_second": 11.4,
                     *           "blocks_per_second": 0.5,
                     *           "rows_written": 512345,
                     *           "reorgs": 1,
                     *           "deepest_reorg": 1,
                     *           "retries": 7,
                     *           "contradictions": 0,
                     *           "dead_letters": 0,
                     *           "last_error": null,
                     *           "last_written_at": "2026-11-20T09:15:03Z",
                     *           "reported_at": "2026-11-20T09:15:04Z"
                     *         }
                     *       ],
                     *       "rollups": {
                     *         "open_slices": 1,
                     *         "oldest_open_at": "2026-11-20T00:00:00Z",
                     *         "last_closed_at": "2026-11-20T00:15:04Z"
                     *       },
                     *       "identities": {
                     *         "chains": [
                     *           {
                     *             "chain": "eip155:8453",
                     *             "agents": 41207,
                     *             "agents_due": 0,
                     *             "attestations": 96311,
                     *             "cards": {
                     *               "good": 22018,
                     *               "failed": 4920,
                     *               "none": 14269,
                     *               "due": 37,
                     *               "problems": [
                     *                 {
                     *                   "problem": "empty_uri",
                     *                   "count": 14232
                     *                 },
                     *                 {
                     *                   "problem": "name_not_found",
                     *                   "count": 3871
                     *                 }
                     *               ]
                     *             },
                     *             "feedback_files": {
                     *               "good": 8311,
                     *               "failed": 1204,
                     *               "new": 12,
                     *               "due": 12,
                     *               "problems": [
                     *                 {
                     *                   "problem": "refused",
                     *                   "count": 1101
                     *                 }
                     *               ]
                     *             }
                     *           }
                     *         ],
                     *         "endpoint_sources": [
                     *           {
                     *             "source": "bazaar:coinbase",
                     *             "kind": "bazaar",
                     *             "host": "facilitator.example",
                     *             "offers": 14810,
                     *             "tried_at": "2026-11-20T08:31:40Z",
                     *             "good_at": "2026-11-20T08:31:40Z",
                     *             "problem": null,
                     *             "stale": false
                     *           }
                     *         ],
                     *         "counted_at": "2026-11-20T09:15:04Z"
                     *       },
                     *       "warnings": [],
                     *       "as_of": "2026-11-20T09:15:04Z"
                     *     }
                     */
                    "application/json": components["schemas"]["GetTelemetryAnswer"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["InvalidApiKey"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    getSqlSchema: {
        parameters: {
            query?: {
                /**
                 * @description This table with its columns and an example; `*` for all tables. Without it tables are listed by name, in one line each.
                 * @example settlements
                 */
                table?: string;
                /**
                 * @description Allowed functions in whose names a word begins so, in any case: `date` finds dateDiff, toDate and str_to_date. At most 100; `*` for all of them. Without it no function is listed.
                 * @example quantile
                 */
                functions?: string;
            };
            header?: {
                /**
                 * @description An id of the caller’s choosing for this request, to find it again in logs. Another form of it is left alone.
                 * @example 0b8f3c52-1a8e-4b61-9d2f-6c1f0e7a9b13
                 */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
                /**
                 * @description ETag of the answer that the caller has: 304 when there is nothing new. A call that is charged is answered in full.
                 * @example W/"Zk0T2mJ1qkR9n3vXw7cYb5LdPQs"
                 */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What SQL may read: tables, columns, functions and limits. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetSqlSchemaAnswer"];
                };
            };
            /** @description Nothing changed since the tag in If-None-Match, and nothing was charged. */
            304: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    ETag: components["headers"]["ETag"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["InvalidApiKey"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["Unavailable"];
        };
    };
    runSql: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description An id of the caller’s choosing for this request, to find it again in logs. Another form of it is left alone.
                 * @example 0b8f3c52-1a8e-4b61-9d2f-6c1f0e7a9b13
                 */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
                /** @description Base64 of a signed x402 payment for one of `accepts`. It goes before a key. Version 2 clients send the same as PAYMENT-SIGNATURE. */
                "X-PAYMENT"?: components["parameters"]["XPayment"];
                /** @description Base64 of a signed x402 payment, as version 2 names the header. */
                "PAYMENT-SIGNATURE"?: components["parameters"]["PaymentSignature"];
                /**
                 * @description Chosen by the client, for calls on units: the same request with the same key is charged once, and gives the same answer again for 24 hours where that is JSON of at most 256 KiB.
                 * @example 7f9c2ba4-e88f-4d1a-a1b4-5c0f8a3d6e21
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKeyUnits"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RunSqlRequest"];
            };
        };
        responses: {
            /** @description Run a SQL query over the public tables. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    "Idempotent-Replayed": components["headers"]["Idempotent-Replayed"];
                    /** @description Rows in the answer; a trailer where only the end of the answer tells. */
                    "X-Row-Count"?: string;
                    /** @description `true` when there are more rows than the answer has; a trailer like X-Row-Count. */
                    "X-Truncated"?: string;
                    /** @description Engine time, milliseconds. */
                    "X-Duration-Ms"?: string;
                    /** @description Rows that the engine read. */
                    "X-Rows-Read"?: string;
                    /** @description Bytes that the engine read, uncompressed. */
                    "X-Bytes-Read"?: string;
                    /** @description Memory that the query took at most. */
                    "X-Memory-Bytes"?: string;
                    /** @description The tier that ran it. */
                    "X-Query-Tier"?: string;
                    /** @description Query Units held for the call. */
                    "X-Units-Held"?: string;
                    /** @description Query Units charged. */
                    "X-Units-Charged"?: string;
                    /** @description Query Units that the organization has left; absent on the x402 lane. */
                    "X-Units-Balance"?: string;
                    /** @description When the answer was assembled. */
                    "X-As-Of"?: string;
                    /** @description JSON: `meta.freshness` of a JSON answer. */
                    "X-Freshness"?: string;
                    /** @description JSON: `warnings` of a JSON answer; absent without any. */
                    "X-Warnings"?: string;
                    /** @description The text that ran, percent-encoded; absent when that is longer than 4 KiB. */
                    "X-Sql"?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SqlResult"] | components["schemas"]["SqlEstimate"];
                    /**
                     * @example {"payee":"0x4020615294c913f045dc10f0a5cdebd86c280001","usd":"1284.03"}
                     *     {"payee":"0x8d4f05a0f2c1b3e49a7766554433221100ffeedd","usd":"311.5"}
                     */
                    "application/x-ndjson": string;
                    /**
                     * @example "payee","usd"
                     *     "0x4020615294c913f045dc10f0a5cdebd86c280001",1284.03
                     *     "0x8d4f05a0f2c1b3e49a7766554433221100ffeedd",311.5
                     */
                    "text/csv": string;
                    "application/vnd.apache.parquet": unknown;
                    "application/vnd.apache.arrow.stream": unknown;
                };
            };
            /** @description `invalid_parameter`: Correct the parameter named in `parameter`; the request was not run. `malformed_request`: Correct the URL, the headers or the body as `detail` says. `invalid_query`: Correct the query as `detail` and `hint` say; it was not run and cost nothing. `query_failed`: See `reason`: narrow the query, buy more time (`max_qu`, `tier`), or correct it. What it used until then is charged, and nothing where it failed before it read a row. */
            400: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            401: components["responses"]["KeyRequired"];
            402: components["responses"]["UnitsOrPaymentRequired"];
            403: components["responses"]["UpgradeRequired"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            /** @description `payment_in_progress`: Wait for its answer. If there is none, send the same request again after `Retry-After`. `request_in_progress`: Wait for its answer, or send it again after `Retry-After`. `reply_not_kept`: It was charged once. Use a new Idempotency-Key to run it again. `idempotency_conflict`: Use a new Idempotency-Key for a new request. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            413: components["responses"]["PayloadTooLarge"];
            414: components["responses"]["UriTooLong"];
            415: components["responses"]["UnsupportedMediaType"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            500: components["responses"]["InternalError"];
            502: components["responses"]["SettlementUnknown"];
            503: components["responses"]["Unavailable"];
        };
    };
    mintTrialKey: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description An id of the caller’s choosing for this request, to find it again in logs. Another form of it is left alone.
                 * @example 0b8f3c52-1a8e-4b61-9d2f-6c1f0e7a9b13
                 */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
                /** @description Base64 of a signed x402 payment for one of `accepts`. It goes before a key. Version 2 clients send the same as PAYMENT-SIGNATURE. */
                "X-PAYMENT"?: components["parameters"]["XPayment"];
                /** @description Base64 of a signed x402 payment, as version 2 names the header. */
                "PAYMENT-SIGNATURE"?: components["parameters"]["PaymentSignature"];
                /**
                 * @description Of at least 16 characters: the same request with the same payment gives the same answer again. A shorter one is left alone.
                 * @example 7f9c2ba4-e88f-4d1a-a1b4-5c0f8a3d6e21
                 */
                "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Buy a trial key over x402. */
            201: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "api_key": "six_trial_…",
                     *       "tier": "trial",
                     *       "expires_at": "2026-12-20T09:15:04Z",
                     *       "settlement": {
                     *         "transaction": "0x6f1c0b8e5d1f0a3c9b7e2d4f8a6c5b3e1d0f9a8b7c6d5e4f3a2b1c0d9e8f7a6b",
                     *         "network": "eip155:8453",
                     *         "payer": "0x857b06519e91e3a54538791bdbb0e22373e36b66"
                     *       }
                     *     }
                     */
                    "application/json": components["schemas"]["TrialKey"];
                };
            };
            400: components["responses"]["InvalidRequest"];
            401: components["responses"]["InvalidApiKey"];
            402: components["responses"]["PaymentRequired"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            408: components["responses"]["RequestTimeout"];
            /** @description `payment_in_progress`: Wait for its answer. If there is none, send the same request again after `Retry-After`. `key_already_issued`: Not a second charge. Pay again for another key. */
            409: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    "Retry-After": components["headers"]["Retry-After"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            414: components["responses"]["UriTooLong"];
            429: components["responses"]["RateLimited"];
            431: components["responses"]["HeadersTooLarge"];
            /** @description `internal_error`: Retry once; if it persists, report `request_id` to the operator. `key_issue_failed`: Send the same request with the same payment again: it is not charged twice. `transaction` proves it. */
            500: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "RateLimit-Policy": components["headers"]["RateLimit-Policy"];
                    RateLimit: components["headers"]["RateLimit"];
                    "X-RateLimit-Limit": components["headers"]["X-RateLimit-Limit"];
                    "X-RateLimit-Remaining": components["headers"]["X-RateLimit-Remaining"];
                    "X-RateLimit-Reset": components["headers"]["X-RateLimit-Reset"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    "X-PAYMENT-RESPONSE": components["headers"]["X-PAYMENT-RESPONSE"];
                    "PAYMENT-RESPONSE": components["headers"]["PAYMENT-RESPONSE"];
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            502: components["responses"]["SettlementUnknown"];
            503: components["responses"]["Unavailable"];
        };
    };
    getHealth: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description An id of the caller’s choosing for this request, to find it again in logs. Another form of it is left alone.
                 * @example 0b8f3c52-1a8e-4b61-9d2f-6c1f0e7a9b13
                 */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It does. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ok"
                     *     }
                     */
                    "application/json": components["schemas"]["ServiceStatus"];
                };
            };
            400: components["responses"]["MalformedRequest"];
            405: components["responses"]["MethodNotAllowed"];
            414: components["responses"]["UriTooLong"];
            500: components["responses"]["InternalError"];
        };
    };
    getReadiness: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description An id of the caller’s choosing for this request, to find it again in logs. Another form of it is left alone.
                 * @example 0b8f3c52-1a8e-4b61-9d2f-6c1f0e7a9b13
                 */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Both. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "status": "ready"
                     *     }
                     */
                    "application/json": components["schemas"]["ServiceStatus"];
                };
            };
            400: components["responses"]["MalformedRequest"];
            405: components["responses"]["MethodNotAllowed"];
            414: components["responses"]["UriTooLong"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["UpstreamUnavailable"];
        };
    };
    getOpenApi: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description An id of the caller’s choosing for this request, to find it again in logs. Another form of it is left alone.
                 * @example 0b8f3c52-1a8e-4b61-9d2f-6c1f0e7a9b13
                 */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "openapi": "3.1.0",
                     *       "info": {
                     *         "title": "Settlement Index"
                     *       }
                     *     }
                     */
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
            400: components["responses"]["MalformedRequest"];
            405: components["responses"]["MethodNotAllowed"];
            414: components["responses"]["UriTooLong"];
            500: components["responses"]["InternalError"];
        };
    };
    getProtectedResource: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description An id of the caller’s choosing for this request, to find it again in logs. Another form of it is left alone.
                 * @example 0b8f3c52-1a8e-4b61-9d2f-6c1f0e7a9b13
                 */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The issuer. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "resource": "https://index.example",
                     *       "authorization_servers": [
                     *         "https://id.example"
                     *       ],
                     *       "bearer_methods_supported": [
                     *         "header"
                     *       ],
                     *       "resource_name": "Settlement Index"
                     *     }
                     */
                    "application/json": components["schemas"]["ProtectedResource"];
                };
            };
            400: components["responses"]["MalformedRequest"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            414: components["responses"]["UriTooLong"];
            500: components["responses"]["InternalError"];
        };
    };
    getOfferList: {
        parameters: {
            query?: never;
            header?: {
                /**
                 * @description An id of the caller’s choosing for this request, to find it again in logs. Another form of it is left alone.
                 * @example 0b8f3c52-1a8e-4b61-9d2f-6c1f0e7a9b13
                 */
                "X-Request-Id"?: components["parameters"]["XRequestId"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The routes and their terms. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    "Server-Timing": components["headers"]["Server-Timing"];
                    "Cache-Control": components["headers"]["Cache-Control"];
                    Vary: components["headers"]["Vary"];
                    [name: string]: unknown;
                };
                content: {
                    /**
                     * @example {
                     *       "version": 1,
                     *       "resources": [
                     *         "https://index.example/v0/flows"
                     *       ],
                     *       "x402Version": 2,
                     *       "items": [
                     *         {
                     *           "resource": "https://index.example/v0/flows",
                     *           "type": "http",
                     *           "x402Version": 2,
                     *           "description": "Newest settlements across every indexed chain, payer to payee",
                     *           "mimeType": "application/json",
                     *           "serviceName": "Settlement Index",
                     *           "accepts": [
                     *             {
                     *               "scheme": "exact",
                     *               "network": "eip155:8453",
                     *               "amount": "1000",
                     *               "asset": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
                     *               "payTo": "0x00000000000000000000000000000000000A11cE",
                     *               "maxTimeoutSeconds": 300,
                     *               "extra": {
                     *                 "name": "USD Coin",
                     *                 "version": "2"
                     *               }
                     *             }
                     *           ],
                     *           "price": {
                     *             "mode": "fixed",
                     *             "currency": "USD",
                     *             "amount": "0.001"
                     *           },
                     *           "extensions": {
                     *             "bazaar": {
                     *               "info": {
                     *                 "input": {
                     *                   "type": "http",
                     *                   "method": "GET"
                     *                 }
                     *               }
                     *             }
                     *           }
                     *         }
                     *       ]
                     *     }
                     */
                    "application/json": components["schemas"]["OfferList"];
                };
            };
            400: components["responses"]["MalformedRequest"];
            404: components["responses"]["NotFound"];
            405: components["responses"]["MethodNotAllowed"];
            414: components["responses"]["UriTooLong"];
            500: components["responses"]["InternalError"];
        };
    };
}
