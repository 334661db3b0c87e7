import { chainText } from '../format.ts';
import { useAnswer } from '../use-answer.ts';
import type { TelemetryAnswer } from './wire-service.ts';

interface Option {
  readonly value: string;
  readonly label: string;
}

/** The chains of this deployment for a filter, after what no choice means. */
export function useChainOptions(unset: string): readonly Option[] {
  const { answer } = useAnswer<TelemetryAnswer>('/telemetry');
  const chains = answer?.chains.map(({ chain }) => ({ value: chain, label: chainText(chain) })) ?? [];
  return [{ value: '', label: unset }, ...chains];
}
