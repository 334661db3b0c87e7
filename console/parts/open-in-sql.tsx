import { Link } from '../router.tsx';
import { DEFAULT_TIER, fragmentOf } from '../sql/query-text.ts';

interface OpenInSqlProps {
  readonly sql: string;
  /** Values of the placeholders. */
  readonly params?: Readonly<Record<string, string>>;
  readonly isButton?: boolean;
  /** The subject of the query, for screen readers, where several links stand on a page. */
  readonly about?: string;
}

/** Opens a query in the editor. Nothing runs, and nothing is charged, before the visitor runs it. */
export function OpenInSql({ sql, params = {}, isButton = false, about }: OpenInSqlProps) {
  return (
    <Link
      class={isButton ? 'button' : 'open-in-sql'}
      to={`/sql${fragmentOf({ sql, params, tier: DEFAULT_TIER })}`}
      title="Opens the query in the editor. Nothing runs before you say so."
    >
      Open in SQL
      {about === undefined ? null : <span class="visually-hidden">: {about}</span>}
    </Link>
  );
}
