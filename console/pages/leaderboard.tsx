import type { PageProps } from '../pages.ts';

export function LeaderboardPage(_props: PageProps) {
  return <h1>Leaderboard</h1>;
}
