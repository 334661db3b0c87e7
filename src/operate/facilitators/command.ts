import type { Command } from 'commander';

/** How `facilitators …` is written on the command line. */

export type FacilitatorOrder =
  | { readonly do: 'review'; readonly isJson: boolean }
  | { readonly do: 'accept'; readonly chain: string; readonly address: string; readonly id: string }
  | { readonly do: 'refuse'; readonly chain: string; readonly address: string };

const HELP = `
A running service looks once a minute for relayers that behave as a facilitator's do and that no catalogue names. Works with or without one.
What the evidence says and what it cannot tell: docs/methodology.md, "Proposed relayers".
Exit codes: 0 done, 1 failed, 2 the command must be corrected.`;

export function addFacilitatorCommands(
  program: Command,
  run: (order: FacilitatorOrder) => Promise<void>,
): void {
  const facilitators = program
    .command('facilitators')
    .description('relayers that are proposed as a facilitator’s')
    .addHelpText('after', HELP);
  facilitators
    .command('review')
    .description('list the proposals with their evidence, the best first')
    .option('--json', 'print one JSON object instead of lines')
    .action(({ json = false }: { readonly json?: boolean }) => run({ do: 'review', isJson: json }));
  const decision = (name: string, description: string): Command =>
    facilitators
      .command(name)
      .description(description)
      .argument('<chain>', 'its chain, such as base or eip155:8453')
      .argument('<address>', 'the relayer');
  decision(
    'accept',
    'name the facilitator of a proposed relayer, in catalogue.file; without one, print what to add',
  )
    .argument('<id>', 'id of the facilitator, such as coinbase')
    .action((chain: string, address: string, id: string) => run({ do: 'accept', chain, address, id }));
  decision(
    'refuse',
    'list a relayer no more, and undo what catalogue.acceptProposalsAbove did with it',
  ).action((chain: string, address: string) => run({ do: 'refuse', chain, address }));
}
