import { ERRORS, type ErrorCode } from '../../core/errors.ts';

/** What the catalogue of errors advises callers over HTTP, said for callers here, where that differs. */
const ADVICE: Partial<Record<ErrorCode, string>> = {
  invalid_parameter: 'Correct the argument named in `parameter`; nothing was run or charged.',
  invalid_api_key:
    'Ask whoever configured this server for a valid key, sent as the header X-API-Key or Authorization: Bearer. get_account says what answers without one.',
  api_key_required:
    'Ask whoever configured this server for a key, sent as the header X-API-Key or Authorization: Bearer. Free tools answer without one: get_account has the prices, mint_trial_key says whether and how a key can be bought.',
  payment_required:
    'No payment can be sent over MCP. Use the key of an organization with units, or pay for the same call over HTTP.',
  insufficient_qu:
    'Top up where top_up_url of get_account says. Tools that cost 0 QU go on answering, and so does run_sql with explain_only.',
  upgrade_required: 'get_account lists the tiers that this plan allows. Ask for a plan that includes more.',
  not_found: 'Use another tool: this one has nothing to offer on this deployment.',
  rate_limited: 'Wait, then make the same call again.',
  overloaded: 'Wait, then make the same call again; nothing was run or charged.',
  upstream_unavailable: 'Wait, then make the same call again; what is named in `resource` did not answer.',
  internal_error: 'Make the same call once more; if it fails again, report `request_id` to the operator.',
};

/** What to do about an error, in words for whoever calls tools. */
export function adviceOf(code: ErrorCode): string {
  return ADVICE[code] ?? ERRORS[code].advice;
}
