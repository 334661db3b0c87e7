import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { CounterName, FamilyName, HistogramName, Meter, Reading } from '../../core/meter.ts';
import { FAMILIES, type Family, METRIC_PREFIX } from '../../core/metric-families.ts';

/** The meter over prom-client, and its text in the format of Prometheus 0.0.4. */
export interface PrometheusMeter extends Meter {
  readonly contentType: string;
  /** Takes the measures that belong to a scrape, then prints everything. Rejects never. */
  text(): Promise<string>;
}

/**
 * Series of one family. Each label should have a bounded set of values; this limit holds where one does not, so that a mistake here
 * cannot fill the collector's memory. Further values are counted under `other`.
 */
const SERIES_MAX = 2_000;
const OTHER = 'other';
/** Below the ten seconds that Prometheus waits for a scrape. */
const READ_MAX_MS = 5_000;

interface Series {
  /** What was counted since the last scrape: the library takes ten times as long for one more. */
  counted: number;
  readonly counter: Counter.Internal | undefined;
  readonly histogram: Histogram.Internal<string> | undefined;
}

interface Metrics {
  readonly registry: Registry;
  readonly counters: Map<FamilyName, Counter>;
  readonly gauges: Map<FamilyName, Gauge>;
  readonly histograms: Map<FamilyName, Histogram>;
}

/** `version` and `role` are shown in `build_info`. */
export function createPrometheusMeter(build: {
  readonly version: string;
  readonly role: string;
}): PrometheusMeter {
  const metrics = openFamilies();
  const { registry } = metrics;
  collectDefaultMetrics({ register: registry });
  metrics.gauges.get('build_info')?.set({ ...build }, 1);
  const series = createSeries(metrics);
  const loads: { readonly group: string; readonly load: () => Promise<readonly Reading[]> }[] = [];
  const given = new Map<string, readonly Reading[]>();
  const meter: Meter = {
    count(name, labels, by = 1) {
      series.of(name, labels).counted += by;
    },
    observe: (name, labels, seconds) => series.of(name, labels).histogram?.observe(seconds),
    read: (group, load) => void loads.push({ group, load }),
  };
  const refresh = async ({ group, load }: (typeof loads)[number]): Promise<void> => {
    const outcome = await inTime(load()).then(
      (readings) => readings,
      () => null, // counted below: its figures are then absent, which an alert can detect
    );
    if (outcome === null) meter.count('scrape_failures_total', { group });
    for (const name of new Set(given.get(group)?.map((reading) => reading.name))) forget(metrics, name);
    given.set(group, outcome ?? []);
    for (const reading of outcome ?? []) show(metrics, reading);
  };
  return {
    ...meter,
    contentType: registry.contentType,
    async text() {
      await Promise.all(loads.map(refresh));
      series.handOver();
      return registry.metrics();
    },
  };
}

function openFamilies(): Metrics {
  const metrics: Metrics = {
    registry: new Registry(),
    counters: new Map(),
    gauges: new Map(),
    histograms: new Map(),
  };
  const registers = [metrics.registry];
  for (const [name, family] of Object.entries(FAMILIES) as [FamilyName, Family][]) {
    const { kind, help, labels, buckets = [] } = family;
    const options = { name: `${METRIC_PREFIX}${name}`, help, labelNames: [...labels], registers };
    if (kind === 'counter') metrics.counters.set(name, new Counter(options));
    else if (kind === 'gauge') metrics.gauges.set(name, absentGauge(new Gauge(options), labels));
    else metrics.histograms.set(name, new Histogram({ ...options, buckets: [...buckets] }));
  }
  return metrics;
}

/** Without it the library would report 0 for a gauge that this process never reads. */
function absentGauge(gauge: Gauge, labels: readonly string[]): Gauge {
  if (labels.length === 0) gauge.remove();
  return gauge;
}

/** Series by their labels: the library would sort and join the labels of every call anew, which took half of its time. */
function createSeries({ counters, histograms }: Metrics) {
  const known = new Map<FamilyName, Map<string, Series>>();
  const open = (name: CounterName | HistogramName, values: string[]): Series => ({
    counted: 0,
    counter: counters.get(name)?.labels(...values),
    histogram: histograms.get(name)?.labels(...values),
  });
  const of = (name: CounterName | HistogramName, labels: Readonly<Record<string, string>>): Series => {
    const names: readonly string[] = FAMILIES[name].labels;
    let key = '';
    for (const label of names) key += `${labels[label]}\n`;
    let ofFamily = known.get(name);
    if (ofFamily === undefined) {
      ofFamily = new Map();
      known.set(name, ofFamily);
    }
    const found = ofFamily.get(key);
    if (found !== undefined) return found;
    const isFull = ofFamily.size >= SERIES_MAX;
    const kept = isFull ? OTHER : key;
    const opened =
      ofFamily.get(kept) ??
      open(
        name,
        names.map((label) => (isFull ? OTHER : (labels[label] ?? ''))),
      );
    ofFamily.set(kept, opened);
    return opened;
  };
  const handOver = (): void => {
    for (const ofFamily of known.values())
      for (const series of ofFamily.values()) {
        series.counter?.inc(series.counted);
        series.counted = 0;
      }
  };
  return { of, handOver };
}

function forget({ counters, gauges }: Metrics, name: FamilyName): void {
  for (const metric of [counters.get(name), gauges.get(name)]) {
    metric?.reset();
    if (FAMILIES[name].labels.length === 0) metric?.remove(); // it would stand at 0
  }
}

function show({ counters, gauges }: Metrics, { name, labels = {}, value }: Reading): void {
  counters.get(name)?.inc({ ...labels }, value);
  gauges.get(name)?.set({ ...labels }, value);
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), READ_MAX_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
