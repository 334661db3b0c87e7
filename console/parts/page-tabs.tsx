import { Link } from '../router.tsx';

interface PageTabsProps {
  /** What the tabs choose between, for screen readers. */
  readonly label: string;
  readonly tabs: readonly { readonly to: string; readonly title: string; readonly isCurrent: boolean }[];
}

/** The pages of a section. */
export function PageTabs({ label, tabs }: PageTabsProps) {
  return (
    <nav class="page-tabs" aria-label={label}>
      {tabs.map(({ to, title, isCurrent }) => (
        <Link key={to} to={to} current={isCurrent}>
          {title}
        </Link>
      ))}
    </nav>
  );
}
