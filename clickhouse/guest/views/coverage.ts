import { type WalletIdKey, walletIdMark } from '../../tables/wallet-ids.ts';

/**
 * View `plain_coverage`: for every month that has rows, whether its copy is current, and the hours that must be read from
 * `settlements`. The worker that copies and the public views both ask here, so that there is one definition of current: nothing was
 * written to the copied hours since, and the copy has the ids that these views show.
 */
export function coverageStatement(database: string, idKey: WalletIdKey): string {
  return `CREATE OR REPLACE VIEW ${database}.plain_coverage AS
WITH (
    SELECT (groupArray(month), groupArray(until), groupArray(writes), groupArray(gen))
    FROM ${database}.plain_months FINAL WHERE id_key = ${walletIdMark(idKey)}
) AS made
SELECT
    toStartOfMonth(hour) AS month,
    indexOf(made.1, month) AS place,
    made.2[place] AS until,
    made.4[place] AS gen,
    place > 0 AND sumIf(writes, hour < until) = made.3[place] AS is_plain,
    if(is_plain, groupUniqArrayIf(hour, hour >= until), groupUniqArray(hour)) AS open_hours
FROM ${database}.hour_ver
GROUP BY month`;
}
