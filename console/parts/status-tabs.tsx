import { PageTabs } from './page-tabs.tsx';

const TABS = [
  { to: '/status', title: 'Health' },
  { to: '/coverage', title: 'Coverage' },
] as const;

/** The pages about the index itself. */
export function StatusTabs({ current }: { readonly current: (typeof TABS)[number]['to'] }) {
  return <PageTabs label="The index" tabs={TABS.map((tab) => ({ ...tab, isCurrent: tab.to === current }))} />;
}
