// Written by `npm run gen` from the declarations in src/operations. Changes here are lost.

import type { ListMethod, Method, RepeatableOptions } from './call.ts';

/** One method for each operation of the API. */
export interface Operations {
  /**
   * Who the caller is, which lane applies and what each route costs.
   *
   * Needs no key and costs nothing. A caller without a key gets the full price list; an unknown key gets an
   * answer with `key_recognised: false`. `tier` is the plan of the organization behind a key; while the
   * organization of a key cannot be read, the key has the lowest plan.
   *
   * Price: Free, no key needed.
   *
   * `GET /v0/account`
   */
  getAccount: Method<'getAccount'>;

  /**
   * Usage of the account by day, operation, key and lane.
   *
   * Calls that were answered, Query Units charged and dollars settled over x402, by UTC day. The units are
   * those of the ledger, exactly; calls that cost no units appear within seconds. A key that manages keys,
   * and a bearer token, see the whole organization; any other key sees its own usage.
   *
   * Price: Free, no key needed.
   *
   * `GET /v0/account/usage`
   */
  getAccountUsage: Method<'getAccountUsage'>;

  /**
   * The account’s SQL history, newest first.
   *
   * Every query of the last 30 days that was checked or run, over any interface, with its text; jobs are
   * included once they have ended. At most the latest 10,000. Only the organization sees them: a key that
   * manages keys, and a bearer token, see all; any other key sees its own. They are not in backups, and
   * `DELETE` removes them at once. Runs appear within seconds.
   *
   * Price: Free, no key needed.
   *
   * `GET /v0/account/queries`
   */
  listAccountQueries: ListMethod<'listAccountQueries', 'queries'>;

  /**
   * The organization’s keys and their history.
   *
   * A key that manages keys, and a bearer token, see all keys of the organization by id, including revoked
   * ones; any other key sees itself. `history` says what was done to a key, when, and with which key. A key
   * is never shown again: only its digest is stored.
   *
   * Price: Free, no key needed.
   *
   * `GET /v0/account/keys`
   */
  listAccountKeys: ListMethod<'listAccountKeys', 'keys'>;

  /**
   * Newest settlements across every indexed chain, payer to payee.
   *
   * Settlements, newest first, with the display names of payer, payee and facilitator where they are known.
   * For older pages send `next_before` back as `before`; for new rows send `prev_after` as `after` (guide:
   * [keep a copy up to date](/docs/copies)). A filter can leave a page short while more rows remain: the
   * list ends where `next_before` is null.
   *
   * Price: Any key at 0 QU, or 0.001 USD per call over x402.
   *
   * `GET /v0/flows`
   */
  listFlows: ListMethod<'listFlows', 'flows'>;

  /**
   * Every indexed settlement, newest first, filterable by x402 confidence.
   *
   * Every indexed settlement. The other filters select rows; `min_probability` and `exclude_self_payments`
   * filter a page after it was read, so a page can be short or empty while more rows remain: keep following
   * `next_before` until it is null. What is new comes by sending `prev_after` as `after` (guide: [keep a
   * copy up to date](/docs/copies)).
   *
   * Price: Any key at 0 QU, or 0.001 USD per call over x402.
   *
   * `GET /v0/transactions`
   */
  listTransactions: ListMethod<'listTransactions', 'transactions'>;

  /**
   * One transaction with all its settlements.
   *
   * Every settlement of the transaction in the order of its logs, with evidence, finality and names, and
   * what the transaction cost its relayer. All indexed chains are searched unless `chain` names one.
   * `settlement_count` counts them all; the first 1,000 are shown. A hash without a settlement is
   * `transaction_not_found`, which costs nothing: it may not be an x402 payment, may not be indexed yet, or
   * may have been undone by a reorg.
   *
   * Price: Any key at 0 QU, or 0.001 USD per call over x402.
   *
   * `GET /v0/transactions/{tx_hash}`
   */
  getTransaction: Method<'getTransaction'>;

  /**
   * Settlements where a wallet is a party, newest first.
   *
   * Settlements in which the wallet paid or was paid. A payment of the wallet to itself appears once. A
   * wallet unknown to the index has an empty list: it never paid or was paid, is not indexed yet, or is on a
   * chain that is not covered.
   *
   * Price: Any key at 0 QU, or 0.001 USD per call over x402.
   *
   * `GET /v0/entities/{wallet}/settlements`
   */
  listEntitySettlements: ListMethod<'listEntitySettlements', 'settlements'>;

  /**
   * Whether to pay an address, in under 1.5 KB.
   *
   * What the index knows of an address that asks to be paid: the verdict of its profile as a payee, what
   * speaks for and against it (closed lists), what it received and how much of that is organic and proven,
   * its age, its ERC-8004 identity with the state of its proof, what is offered under it, what it paid back
   * to its payers, and prices to compare yours with. A wallet that the index never saw is an answer, too.
   * Over every indexed chain; with `chain` of that one alone, and `elsewhere` says what it was paid on the
   * others.
   *
   * Price: Any key at 0 QU, or 0.001 USD per call over x402.
   *
   * `GET /v0/entities/{wallet}/summary`
   */
  getEntitySummary: Method<'getEntitySummary'>;

  /**
   * Who paid a wallet and whom it paid, with sums.
   *
   * One row for each other wallet, with exact sums in both directions, days with settlements, first and
   * last. `role` is the role of the wallet in the path: `payee` lists its payers, `payer` lists those it
   * paid. Channel deposits and payments to itself do not count. `counterparty_count` and `totals` are about
   * all counterparties of the window. A walk along `next_before` stays with the window of its first page; a
   * cursor is refused with another `role`, `order`, `window`, `chain` or `as_of` than that of its page. Over
   * every indexed chain unless `chain` names one.
   *
   * Price: Any key at 0 QU, or 0.001 USD per call over x402.
   *
   * `GET /v0/entities/{wallet}/counterparties`
   */
  listCounterparties: ListMethod<'listCounterparties', 'counterparties'>;

  /**
   * The payment channels and escrows of a wallet.
   *
   * Channels of `batch-settlement` and escrows of `auth-capture` in which the wallet is payer or payee, the
   * ones opened last first, each with what was deposited, paid, returned and is left. `balance` is money
   * that a payer has committed and its payee has not claimed.
   *
   * Price: Any key at 0 QU, or 0.001 USD per call over x402.
   *
   * `GET /v0/entities/{wallet}/channels`
   */
  listEntityChannels: ListMethod<'listEntityChannels', 'channels'>;

  /**
   * A payment channel or escrowed payment.
   *
   * What was deposited into a channel of `batch-settlement` or an escrow of `auth-capture`, what the payee
   * was paid out of it, what went back, and the balance; with its newest 100 rows. All of them:
   * `/transactions?channel=`. A claim stands for any number of calls. Payouts of a payee cover all its
   * channels and belong to none.
   *
   * Price: Any key at 0 QU, or 0.001 USD per call over x402.
   *
   * `GET /v0/channels/{channel}`
   */
  getChannel: Method<'getChannel'>;

  /**
   * What one wallet paid another.
   *
   * Exact count and sums of the payments from one wallet to the other, the number of days with settlements,
   * the first and the last settlement, figures by day (only days with settlements, at most the last 90 days
   * of the window), and the same for what the payee paid back. A pair without settlements gets an answer
   * with zeros. Channel deposits do not count. Over every indexed chain; with `chain` of that one alone, and
   * `elsewhere` says what it paid on the others.
   *
   * Price: Any key at 0 QU, or 0.001 USD per call over x402.
   *
   * `GET /v0/pairs/{payer}/{payee}`
   */
  getPair: Method<'getPair'>;

  /**
   * All wallets that paid or were paid, by address.
   *
   * Wallets that paid or were paid, highest address first; send `next_before` back as `before` for the next
   * ones. The order does not change while the index grows: a walk meets every wallet that was there all the
   * time exactly once, and one that appears meanwhile if its address is still to come. `role`, `chain` and
   * `finality` select settlements: a row is about those alone, and a wallet without any is not listed.
   *
   * Price: Any key at 0 QU, or 0.001 USD per call over x402.
   *
   * `GET /v0/wallets`
   */
  listWallets: ListMethod<'listWallets', 'wallets'>;

  /**
   * Relayers per chain, busiest first, with their gas balances.
   *
   * Every address that sent settlements, one row for each chain, by number of settlements, then chain and
   * address; of every indexed chain unless `chain` names one. `facilitator` is who the catalogue says is
   * behind it. `nonce`, `gas_balance` and `enriched_at` are there when the account was read from the chain:
   * the busiest relayers and all named ones, every few minutes. `status=proposed` lists relayers that no
   * catalogue names and that behave as a facilitator’s do, with the evidence. Fields without a value are
   * left out. Pages are cut from one ranking that is renewed at most every ten seconds (`meta.ranked_at`):
   * pages of one ranking fit together; from one ranking to the next a relayer can move across a page
   * boundary.
   *
   * Price: Any key at 0 QU, or 0.001 USD per call over x402.
   *
   * `GET /v0/facilitators`
   */
  listFacilitators: ListMethod<'listFacilitators', 'facilitators'>;

  /**
   * Merchants ranked by organic payments in a window.
   *
   * Merchants by `organic_usd` of the last 30 days, or by another order of /leaderboard with `of=merchants`,
   * whose rows and figures these are. Wallets that the data-quality rule calls suspect are left out unless
   * `include_flagged` keeps them. Of every indexed chain unless `chain` names one. /merchants/{address} has
   * everything about one of them.
   *
   * Price: Any key at 0 QU, or 0.001 USD per call over x402.
   *
   * `GET /v0/merchants`
   */
  listMerchants: ListMethod<'listMerchants', 'merchants'>;

  /**
   * What a wallet received, and how far to trust the figures.
   *
   * Exact totals of a wallet in both directions, judged as a payee: by chain, by day, with the share that is
   * proven, what is left without self-payments, and signals against wash trading. Over every indexed chain;
   * with `chain` of that one alone, and `elsewhere` says what the others have. An unknown wallet is an
   * answer with `coverage.known` false. Figures that come from part of the settlements say so in `basis`.
   *
   * Price: Any key at 0 QU, or 0.001 USD per call over x402.
   *
   * `GET /v0/merchants/{address}`
   */
  getMerchant: Method<'getMerchant'>;

  /**
   * What a wallet paid, and how far to trust the figures.
   *
   * The same answer as a merchant profile, judged as a payer: signals are about the wallets that it pays.
   * Any wallet has one; `erc8004_agents` are the agents that pay and are paid with it. An agent is found by
   * its id on `/agents`.
   *
   * Price: Any key at 0 QU, or 0.001 USD per call over x402.
   *
   * `GET /v0/agents/{wallet}`
   */
  getAgent: Method<'getAgent'>;

  /**
   * ERC-8004 agents, newest registration first, by words, owner or capability.
   *
   * Agents as their registry, their card and the feedback about them say, by chain and agent_id, highest
   * first; send `next_before` back as `before` for the next ones. A walk meets every agent that was there
   * and matched all the time exactly once; one that registers meanwhile has a higher id than the page you
   * are on. Filters may be changed along a walk. Names, descriptions, services and domains are claims of the
   * agent’s owner, made safe to show.
   *
   * Price: Any key at 0 QU, or 0.001 USD per call over x402.
   *
   * `GET /v0/agents`
   */
  listAgents: ListMethod<'listAgents', 'agents'>;

  /**
   * Rankings: agents by ratings; agents, merchants, payers, facilitators, endpoints and capabilities by
   * payments.
   *
   * By default ERC-8004 agents by score, highest first, then by chain and agent_id; of every indexed chain
   * unless `chain` names one. A score is made of ratings from 0 to 100 alone, drawn to the middle by few
   * clients; measures under other tags (uptime, response times, revenues) rank nothing and are in
   * `tag_scores`. Rating costs only gas: `by=paid_score` ranks by `paid_score`, of ratings whose file proves
   * that the client paid the agent. Agents without a score count as spam and are left out unless
   * `include_spam` puts them last.

`of`, `by` and `window` ask for other rankings; a combination that has
   * no meaning is refused with those that have. Wash trading does not improve a rank: ranks count only
   * organic payments, without self-payments, payments within a ring and payments between wallets that paid
   * each other. Wallets that the data-quality rule calls suspect are left out unless `include_flagged` keeps
   * them (docs/methodology.md, "Rankings"). Rows of rankings by payments are `RankedRow`.

Pages are cut
   * from a ranking that is renewed at most every ten seconds, deep and expensive ones less often
   * (`meta.ranked_at`): rank and the figures that rank are of then; of an agent ranked by ratings the rest
   * of the row is of now. Wallets are ranked by passes of the worker, the more often the shorter the window.
   * Pages of one ranking fit together; from one ranking to the next a row can move across a page boundary,
   * and an agent whose registration a reorg took back is missing from its page.
   *
   * Price: Any key at 0 QU, or 0.001 USD per call over x402.
   *
   * `GET /v0/leaderboard`
   */
  getLeaderboard: ListMethod<'getLeaderboard', 'leaderboard'>;

  /**
   * ERC-8004 feedback, responses, revocations and validations, newest first.
   *
   * What the reputation and validation registries have logged about agents, newest first; send `next_before`
   * back as `before` for older ones, also after a page that is shorter than `limit`. Filters may be changed
   * along a walk. Anyone may write these: values are on the scale of their tag (`is_rating`, `tag_score`),
   * and tags, endpoints and files are claims, made safe to show. `proof_of_payment` is the payment that the
   * file of a feedback names, checked against the settlements of this index.
   *
   * Price: Any key at 0 QU, or 0.001 USD per call over x402.
   *
   * `GET /v0/attestations`
   */
  listAttestations: ListMethod<'listAttestations', 'attestations'>;

  /**
   * Who pays whom: wallets and the sums between them.
   *
   * Settlements added up by payer and payee, over the newest `window` settlements or the last `days` whole
   * UTC days (exactly one of the two), over all wallets or around one `wallet`, on every indexed chain
   * unless `chain` names one. Payments of a wallet to itself are in no edge and no node; `meta.excluded`
   * counts them. Node figures are those of the edges shown, so the sum of `window_usd` over all nodes is
   * exactly twice the sum of `usd` over all edges, also when `complete` is false; `meta.warnings` then says
   * what was left out.
   *
   * Price: 1 QU with an organization key, or 0.005 USD per call over x402.
   *
   * `GET /v0/graph`
   */
  getGraph: Method<'getGraph'>;

  /**
   * Capabilities that services offer, and how many providers each has.
   *
   * Every capability of the catalogue, offered or not, in the order of the catalogue. Which listing or agent
   * offers what is decided by a published rule (docs/capabilities.md) over what it says of itself.
   * `fields=compact` returns only slug, name and provider_count. Counts are refreshed at most twice a
   * minute.
   *
   * Price: Free, no key needed.
   *
   * `GET /v0/capabilities`
   */
  listCapabilities: Method<'listCapabilities'>;

  /**
   * Providers of one capability, their prices and the payments they received.
   *
   * The listed resources that offer a capability, most paid first: price, pay_to and what was observed as in
   * /endpoints (whose filter `capability` lists them all). `going_rate` are the quartiles of what they cost
   * now, each by its headline offer; contested resources of which no claimant was paid or is published by
   * the domain are left out; null when no price is known. `agents` are ERC-8004 agents whose card mentions
   * it, most rated first. Everything but what was observed is what listings and cards say.
   *
   * Price: Any key at 0 QU, or 0.001 USD per call over x402.
   *
   * `GET /v0/capabilities/{slug}`
   */
  getCapability: Method<'getCapability'>;

  /**
   * Directory of paid services, most paid first, with observed payments of each offer.
   *
   * Resources that facilitators (bazaar discovery), sellers (/.well-known/x402) and the catalogue file list,
   * one row for each resource and HTTP method, by payments observed of its offers in the last 30 days, then
   * by resource and method. `amount` is in atomic units of the asset, `price_usd` in dollars: the price that
   * is signed where the asset is a known dollar token, else the price that the seller declares. Everything
   * but `observed` and `payee_observed` is what listings say. `pay_to` and `price_usd` are those of one
   * offer, `observed` is the sum of all; what cannot be observed is null, with `unobserved_reason`. Where
   * listings disagree about who is to be paid, `contested` is true and `claimants` names them all, with
   * those first that the resource’s own domain publishes. A source that cannot be read keeps what it listed;
   * `meta.sources` says how each answered last, and the warning `endpoints_catalog_stale` that some of it
   * may be outdated. Observed figures are recounted every few minutes.
   *
   * Price: Free, no key needed.
   *
   * `GET /v0/endpoints`
   */
  listEndpoints: ListMethod<'listEndpoints', 'endpoints'>;

  /**
   * Parquet files of finalized days, newest first.
   *
   * One file for each finalized UTC day, chain and table, with its size and hashes: the newest revision of
   * each day. A day gets another revision when its rows changed, by a new catalogue for example; older ones
   * stay in the manifest and can be fetched. `npm run verify` checks files and compares them with an API
   * (guide: [take it home](/docs/bundles)).
   *
   * Price: Free, no key needed.
   *
   * `GET /v0/bundles`
   */
  listBundles: ListMethod<'listBundles', 'bundles'>;

  /**
   * The Parquet file of one day, or the signed manifest of a table.
   *
   * The bytes of a file that /bundles lists, or of an older revision that the manifest names. Parquet files
   * take one `Range` and have a strong ETag, their SHA-256; each request for bytes is a call.
   * `manifest.json` and `describe` are free.
   *
   * Price: Any key at 0 QU, or 0.001 USD per call over x402.
   *
   * `GET /v0/bundles/{chain}/{table}/{file}`
   */
  getBundleFile: Method<'getBundleFile'>;

  /**
   * Health of the index: freshness, ingest rate and faults per chain.
   *
   * Per chain: how far the index is, what ingest is doing and what went wrong; which period the rollups do
   * not cover yet; the progress of agents, their cards and feedback files; and who is running SQL now. While
   * the engine does not answer, `engine.status` says so, and the other figures are the last known ones.
   * `status` is degraded while it does not answer, and while a chain has not started, does not answer, has
   * stopped, or is more than 120 seconds behind.
   *
   * Price: Free, no key needed.
   *
   * `GET /v0/telemetry`
   */
  getTelemetry: Method<'getTelemetry'>;

  /**
   * What was seen of each chain on each day, and what is missing.
   *
   * Counts and shares by chain and UTC day: authorizations, rows by kind, evidence and facilitator, logs
   * that became no row, and blocks that were not read. No amounts. What the figures can show and what they
   * cannot: [methodology](/docs/methodology#coverage). In SQL: `coverage_days`.
   *
   * Price: Any key at 0 QU, or 0.001 USD per call over x402.
   *
   * `GET /v0/coverage`
   */
  getCoverage: Method<'getCoverage'>;

  /**
   * Tables, columns, functions and limits of SQL.
   *
   * Without parameters the public tables in one line each, the limits, and example queries. `table` gives a
   * table with every column and its meaning, the predicates that are cheap, about how many rows there are,
   * and an example; `functions` gives allowed functions by name (aggregate functions also have combinators
   * such as `sumIf`). `table=*&functions=*` gives everything: about 40 kB.
   *
   * Price: Free, no key needed.
   *
   * `GET /v0/sql/schema`
   */
  getSqlSchema: Method<'getSqlSchema'>;

  /**
   * How far a running query is.
   *
   * Rows read of the rows to read, time and memory of a query that runs now. A query is found by the
   * `X-Request-Id` that you sent it with, with any key of the organization that sent it. A run that
   * `max_age` shares with other callers has no such id. Free.
   *
   * Price: Free, no key needed.
   *
   * `GET /v0/sql/running/{id}`
   */
  getRunningQuery: Method<'getRunningQuery'>;

  /**
   * The jobs of your organization.
   *
   * Newest first; a job stays listed for 7 days after it ends. A key that manages keys, and a bearer token,
   * see all jobs of the organization; any other key sees its own. Free. Without the key of an organization
   * the list is empty.
   *
   * Price: Free, no key needed.
   *
   * `GET /v0/sql/jobs`
   */
  listSqlJobs: ListMethod<'listSqlJobs', 'jobs'>;

  /**
   * The state of a job.
   *
   * State, progress, charge and, once it has succeeded, where its result is. Free. With `format=events`
   * every change is sent as it happens, until the job has ended.
   *
   * Price: Free, no key needed.
   *
   * `GET /v0/sql/jobs/{job}`
   */
  getSqlJob: Method<'getSqlJob'>;

  /**
   * A kept result.
   *
   * The result of a job, or of a query with `max_age`: paged as JSON with `offset` and `limit`, or whole in
   * another format. Free, any number of times, for the organizations that received it as an answer, and for
   * the holder of a signed link. Rows and their order never change. `sql`, `result.snapshot` and
   * `result.sha256` cite it: text, state of the index, and hash.
   *
   * Price: Free, no key needed.
   *
   * `GET /v0/results/{result}`
   */
  getResult: Method<'getResult'>;

  /**
   * Your links to a kept result.
   *
   * Newest first, revoked ones too. Their tokens are not stored.
   *
   * Price: Free, no key needed.
   *
   * `GET /v0/results/{result}/shares`
   */
  listResultShares: Method<'listResultShares'>;

  /**
   * What a link to a kept result shows.
   *
   * No key is needed. The rows are `GET /v0/results/{result}?token=…` with the same token, in any format. A
   * link that was revoked, or that expired with its result, is `result_not_found`, and `detail` says which.
   *
   * Price: Free, no key needed.
   *
   * `GET /v0/shared/{token}`
   */
  getSharedResult: Method<'getSharedResult'>;

  /**
   * The tables of your organization.
   *
   * By name, with their columns, and how much of the quota they take.
   *
   * Price: Free, no key needed.
   *
   * `GET /v0/tables`
   */
  listTables: Method<'listTables'>;

  /**
   * A table of your organization.
   *
   * Its columns and its size. Its rows are read with SQL: `SELECT * FROM my.<name>`.
   *
   * Price: Free, no key needed.
   *
   * `GET /v0/tables/{name}`
   */
  getTable: Method<'getTable'>;

  /**
   * The saved queries of your organization.
   *
   * Their latest versions, by slug. `owner` is the handle of the organization, null before it has one.
   *
   * Price: Free, no key needed.
   *
   * `GET /v0/queries`
   */
  listSavedQueries: Method<'listSavedQueries'>;

  /**
   * A saved query of your organization.
   *
   * One version of it, with all that was saved.
   *
   * Price: Free, no key needed.
   *
   * `GET /v0/queries/{slug}`
   */
  getSavedQuery: Method<'getSavedQuery'>;

  /**
   * The versions of a saved query.
   *
   * Newest first. None of them ever changes.
   *
   * Price: Free, no key needed.
   *
   * `GET /v0/queries/{slug}/versions`
   */
  listQueryVersions: Method<'listQueryVersions'>;

  /**
   * Scheduled runs of a saved query.
   *
   * The latest 100, newest first. A run is a job of the key that scheduled it: where its budget of the day
   * is used, the next run waits for the next day, and where the key has ended, none follows. After a failure
   * the time to the next run doubles, up to four weeks; a run that succeeds, and every new version, begins
   * anew.
   *
   * Price: Free, no key needed.
   *
   * `GET /v0/queries/{slug}/refreshes`
   */
  listQueryRefreshes: Method<'listQueryRefreshes'>;

  /**
   * Saved queries that everyone may call.
   *
   * By owner and slug, in short, with their prices; `about_url` has the rest. With the key of an
   * organization its own queries are among them, whatever their visibility. With `search` a call looks at
   * 500 queries at most, so that a page may have fewer rows than `limit` and still go on.
   *
   * Price: Free, no key needed.
   *
   * `GET /v0/q`
   */
  listPublicQueries: ListMethod<'listPublicQueries', 'queries'>;

  /**
   * Call a saved query.
   *
   * Runs it with the values of its parameters, which are sent by their names, or answers from a result that
   * is not older than its `freshness_seconds`. Values are bound by their types and never become a part of
   * the text; one that does not fit is 400 with its name. An answer has a tag: where nothing was charged,
   * `If-None-Match` is answered 304. Over x402 the price is fixed, also where the result must be made first;
   * its author gets the author’s part in units.
   *
   * Price: From 1 QU, by use, and the author's price; over x402 0.01 USD for each unit that it may cost.
   * `GET /v0/q/{owner}/{slug}/about` says what a query costs. Your own queries cost their run, and nothing
   * when a kept result answers.
   *
   * `GET /v0/q/{owner}/{slug}`
   */
  callSavedQuery: Method<'callSavedQuery'>;

  /**
   * What a saved query answers, takes and costs.
   *
   * Available to everyone who may call the query. `sql` is null where the author hides the text.
   *
   * Price: Free, no key needed.
   *
   * `GET /v0/q/{owner}/{slug}/about`
   */
  getPublicQuery: Method<'getPublicQuery'>;

  /**
   * The saved queries of an owner as an OpenAPI document.
   *
   * OpenAPI 3.1: a path for each query that the caller may call and find, with its parameters and price.
   * Public ones for everyone, all of them with a key of the owner.
   *
   * Price: Free, no key needed.
   *
   * `GET /v0/q/{owner}/openapi.json`
   */
  getOwnerOpenApi: Method<'getOwnerOpenApi'>;

  /**
   * Dashboards.
   *
   * The dashboards that come with the service, and with the key of an organization its own. Guide:
   * [dashboards](/docs/dashboards).
   *
   * Price: Free, no key needed.
   *
   * `GET /v0/dashboards`
   */
  listDashboards: Method<'listDashboards'>;

  /**
   * A dashboard.
   *
   * Its panels with their queries, and the values of their placeholders for the period, the chain and the
   * wallet that are asked for. Rows of a panel: `GET /v0/dashboards/{owner}/{slug}/panels/{panel}`.
   *
   * Price: Free, no key needed.
   *
   * `GET /v0/dashboards/{owner}/{slug}`
   */
  getDashboard: Method<'getDashboard'>;

  /**
   * The rows of a panel.
   *
   * The kept result of its query, as arrays of values, at most 5,000 rows. Free: a panel of the deployment
   * is made anew at most once a minute and for all readers together, and one of an organization shows the
   * result that a call or a refresh of its owner left. 404 `result_not_found` where there is none. An answer
   * has a tag.
   *
   * Price: Free, no key needed.
   *
   * `GET /v0/dashboards/{owner}/{slug}/panels/{panel}`
   */
  getDashboardPanel: Method<'getDashboardPanel'>;

  /**
   * Buy a trial key over x402.
   *
   * One settlement buys one key, which opens every route that takes any key. The key is shown once; with an
   * `Idempotency-Key` of at least 16 characters that no one else can guess, the same request with the same
   * payment shows the same key again.
   *
   * Price: 0.01 USD over x402; a key cannot buy it.
   *
   * `GET /v0/test/x402`
   */
  mintTrialKey: Method<'mintTrialKey', RepeatableOptions>;
}

export const ROUTES = {
  getAccount: { path: '/account' },
  getAccountUsage: { path: '/account/usage' },
  listAccountQueries: { path: '/account/queries', rows: 'queries', paging: 'before' },
  listAccountKeys: { path: '/account/keys', rows: 'keys', paging: 'before' },
  listFlows: { path: '/flows', rows: 'flows', paging: 'before' },
  listTransactions: { path: '/transactions', rows: 'transactions', paging: 'before' },
  getTransaction: { path: '/transactions/{tx_hash}' },
  listEntitySettlements: { path: '/entities/{wallet}/settlements', rows: 'settlements', paging: 'before' },
  getEntitySummary: { path: '/entities/{wallet}/summary' },
  listCounterparties: { path: '/entities/{wallet}/counterparties', rows: 'counterparties', paging: 'before' },
  listEntityChannels: { path: '/entities/{wallet}/channels', rows: 'channels', paging: 'before' },
  getChannel: { path: '/channels/{channel}' },
  getPair: { path: '/pairs/{payer}/{payee}' },
  listWallets: { path: '/wallets', rows: 'wallets', paging: 'before' },
  listFacilitators: { path: '/facilitators', rows: 'facilitators', paging: 'offset' },
  listMerchants: { path: '/merchants', rows: 'merchants', paging: 'offset' },
  getMerchant: { path: '/merchants/{address}' },
  getAgent: { path: '/agents/{wallet}' },
  listAgents: { path: '/agents', rows: 'agents', paging: 'before' },
  getLeaderboard: { path: '/leaderboard', rows: 'leaderboard', paging: 'offset' },
  listAttestations: { path: '/attestations', rows: 'attestations', paging: 'before' },
  getGraph: { path: '/graph' },
  listCapabilities: { path: '/capabilities' },
  getCapability: { path: '/capabilities/{slug}' },
  listEndpoints: { path: '/endpoints', rows: 'endpoints', paging: 'offset' },
  listBundles: { path: '/bundles', rows: 'bundles', paging: 'before' },
  getBundleFile: { path: '/bundles/{chain}/{table}/{file}' },
  getTelemetry: { path: '/telemetry' },
  getCoverage: { path: '/coverage' },
  getSqlSchema: { path: '/sql/schema' },
  getRunningQuery: { path: '/sql/running/{id}' },
  listSqlJobs: { path: '/sql/jobs', rows: 'jobs', paging: 'offset' },
  getSqlJob: { path: '/sql/jobs/{job}' },
  getResult: { path: '/results/{result}' },
  listResultShares: { path: '/results/{result}/shares' },
  getSharedResult: { path: '/shared/{token}' },
  listTables: { path: '/tables' },
  getTable: { path: '/tables/{name}' },
  listSavedQueries: { path: '/queries' },
  getSavedQuery: { path: '/queries/{slug}' },
  listQueryVersions: { path: '/queries/{slug}/versions' },
  listQueryRefreshes: { path: '/queries/{slug}/refreshes' },
  listPublicQueries: { path: '/q', rows: 'queries', paging: 'before' },
  callSavedQuery: { path: '/q/{owner}/{slug}' },
  getPublicQuery: { path: '/q/{owner}/{slug}/about' },
  getOwnerOpenApi: { path: '/q/{owner}/openapi.json' },
  listDashboards: { path: '/dashboards' },
  getDashboard: { path: '/dashboards/{owner}/{slug}' },
  getDashboardPanel: { path: '/dashboards/{owner}/{slug}/panels/{panel}' },
  mintTrialKey: { path: '/test/x402', mintsKey: true },
} as const;
