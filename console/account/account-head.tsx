import type { ComponentChildren } from 'preact';
import { Link } from '../router.tsx';

/** The pages of an account, in the order of their tabs. */
const TABS = [
  { path: '/account', title: 'Account' },
  { path: '/account/usage', title: 'Usage' },
  { path: '/account/keys', title: 'Keys' },
  { path: '/account/jobs', title: 'Jobs' },
  { path: '/account/queries', title: 'Queries' },
  { path: '/account/saved', title: 'Saved queries' },
] as const;

interface AccountHeadProps {
  readonly title: string;
  /** The path of the page. */
  readonly path: (typeof TABS)[number]['path'];
  /** What the page shows, in a sentence. */
  readonly children: ComponentChildren;
}

/** The head of every page of an account, with the tabs that lead to the others. */
export function AccountHead({ title, path, children }: AccountHeadProps) {
  return (
    <>
      <div class="page-head">
        <div>
          <h1>{title}</h1>
          <p class="muted">{children}</p>
        </div>
      </div>
      <nav class="account-tabs" aria-label="Account">
        {TABS.map((tab) => (
          <Link key={tab.path} to={tab.path} current={tab.path === path}>
            {tab.title}
          </Link>
        ))}
      </nav>
    </>
  );
}
