import type { ComponentChildren } from 'preact';
import { useIsLentKey } from '../api.ts';
import { Link } from '../router.tsx';

/** The pages of an account, in the order of their tabs. */
const TABS = [
  { path: '/account', title: 'Account', isForVisitors: true },
  { path: '/account/usage', title: 'Usage', isForVisitors: true },
  { path: '/account/keys', title: 'Keys', isForVisitors: false },
  { path: '/account/jobs', title: 'Jobs', isForVisitors: false },
  { path: '/account/queries', title: 'Queries', isForVisitors: false },
  { path: '/account/saved', title: 'Saved queries', isForVisitors: false },
] as const;

interface AccountHeadProps {
  readonly title: string;
  /** The path of the page. */
  readonly path: (typeof TABS)[number]['path'];
  /** What the page shows, in a sentence. */
  readonly children: ComponentChildren;
}

/** The head of every page of an account, with the tabs that lead to the others; the key that is lent to visitors has no lists. */
export function AccountHead({ title, path, children }: AccountHeadProps) {
  const isLent = useIsLentKey();
  const tabs = TABS.filter((tab) => !isLent || tab.isForVisitors || tab.path === path);
  return (
    <>
      <div class="page-head">
        <div>
          <h1>{title}</h1>
          <p class="muted">{children}</p>
        </div>
      </div>
      <nav class="account-tabs" aria-label="Account">
        {tabs.map((tab) => (
          <Link key={tab.path} to={tab.path} current={tab.path === path}>
            {tab.title}
          </Link>
        ))}
      </nav>
    </>
  );
}
