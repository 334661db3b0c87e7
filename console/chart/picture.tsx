import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { announce } from '../components/states.tsx';
import { useStore } from '../store.ts';
import { isDark } from '../theme.ts';
import type { ChartHeight, Drawing, EndLabels, Hover } from './draw.ts';
import { saveChart } from './files.ts';
import { HoverTable } from './hover-table.tsx';
import { chartSentence, rangeText } from './labels.ts';
import { Legend } from './legend.tsx';
import type { Prepared } from './series.ts';
import { canZoom, type Zoom, zoomAfter, zoomBetween, zoomed } from './zoom.ts';

interface PictureProps {
  readonly title: string;
  readonly prepared: Prepared;
  readonly height: ChartHeight;
}

/** The drawn chart: its files, its legend, and the part of it along time that is shown. */
export function Picture({ title, prepared: whole, height }: PictureProps) {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const { zoom, show } = useZoom(whole);
  const shown = useMemo(() => {
    const part = zoomed(whole, zoom);
    return { ...part, series: part.series.filter(({ name }) => !hidden.has(name)) };
  }, [whole, zoom, hidden]);
  const isZoomable = canZoom(whole);
  const onRange = (range: readonly [number, number]): void => {
    const next = zoomBetween(whole.x.places, range);
    if (next !== null) show(next);
  };
  const canvas = useDrawing({ whole, shown, height, onRange: isZoomable ? onRange : undefined });
  const toggle = (name: string): void => {
    const next = new Set(hidden);
    if (!next.delete(name)) next.add(name);
    if (next.size < whole.series.length) setHidden(next);
  };
  const legend =
    whole.series.length < 2 || whole.spec.kind === 'heatmap' ? null : (
      <Legend series={whole.series} hidden={hidden} labels={canvas.labels} onToggle={toggle} />
    );
  return (
    <>
      <PictureHead title={title} onSave={(ending) => canvas.save(title, ending)}>
        {zoom === null ? null : (
          <button type="button" class="copy" onClick={() => show(null)}>
            {rangeText(whole.x, zoom)} · Show all
          </button>
        )}
      </PictureHead>
      <div class="chart-picture" style={height === 'fill' ? {} : { minHeight: `${height}px` }}>
        <Range zoom={zoom} whole={isZoomable ? whole : null} onShow={show}>
          <div ref={canvas.place} class="chart-canvas" role="img" aria-label={chartSentence(shown)} />
        </Range>
        {canvas.hover === null ? null : <HoverTable prepared={shown} hover={canvas.hover} />}
        {canvas.labels === null ? null : legend}
      </div>
      {canvas.labels === null ? legend : null}
    </>
  );
}

interface ZoomState {
  readonly zoom: Zoom | null;
  show(next: Zoom | null): void;
}

/** The places of another result are other times, so a range holds for one result alone. */
function useZoom(whole: Prepared): ZoomState {
  const [chosen, setChosen] = useState<{ readonly of: Prepared; readonly zoom: Zoom | null }>({
    of: whole,
    zoom: null,
  });
  return {
    zoom: chosen.of === whole ? chosen.zoom : null,
    show: (zoom) => {
      setChosen({ of: whole, zoom });
      announce(zoom === null ? 'All is shown' : `${rangeText(whole.x, zoom)} is shown`);
    },
  };
}

interface RangeProps extends ZoomState {
  /** Null where no part of the chart can be shown alone. */
  readonly whole: Prepared | null;
  readonly children: ComponentChildren;
}

/** Takes the keys that change the part of a chart that is shown. */
function Range({
  whole,
  zoom,
  onShow,
  children,
}: Omit<RangeProps, 'show'> & { onShow(next: Zoom | null): void }) {
  if (whole === null) return <div class="chart-range">{children}</div>;
  const onKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = zoomAfter(event.key, zoom, whole.x.places.length);
    if (next === undefined || (next === null && zoom === null)) return;
    event.preventDefault();
    onShow(next);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset belongs to a form, and this is a picture that keys move
    <div
      class="chart-range"
      role="group"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it takes keys
      tabIndex={0}
      aria-label="Range of the chart: plus and minus zoom, arrow keys move, Escape shows all"
      onKeyDown={onKey}
      onDblClick={() => (zoom === null ? undefined : onShow(null))}
    >
      {children}
    </div>
  );
}

interface PictureHeadProps {
  readonly title: string;
  onSave(ending: 'png' | 'svg'): void;
  readonly children?: ComponentChildren;
}

/** The title of a chart, and its files. */
export function PictureHead({ title, onSave, children }: PictureHeadProps) {
  return (
    <figcaption class="chart-head">
      <span class="chart-title">{title}</span>
      <span class="chart-actions">
        {children}
        <button type="button" class="copy" onClick={() => onSave('png')}>
          PNG
        </button>
        <button type="button" class="copy" onClick={() => onSave('svg')}>
          SVG
        </button>
      </span>
    </figcaption>
  );
}

interface DrawingProps {
  readonly whole: Prepared;
  readonly shown: Prepared;
  readonly height: ChartHeight;
  readonly onRange: ((range: readonly [number, number]) => void) | undefined;
}

interface DrawnPicture {
  readonly place: RefObject<HTMLDivElement | null>;
  readonly hover: Hover | null;
  /** Null where the names of the series need a legend. */
  readonly labels: EndLabels | null;
  save(title: string, ending: 'png' | 'svg'): void;
}

/** The canvas of a chart. It is drawn anew for other data, another size and another theme. */
function useDrawing({ whole, shown, height, onRange }: DrawingProps): DrawnPicture {
  const place = useRef<HTMLDivElement>(null);
  const drawing = useRef<Drawing | null>(null);
  const [hover, setHover] = useState<Hover | null>(null);
  const [labels, setLabels] = useState<EndLabels | null>(null);
  const choose = useRef(onRange);
  choose.current = onRange;
  const dark = useStore(isDark);
  // `dark` is only a trigger: the chart reads its colours from the page.
  useEffect(() => {
    let isHere = true;
    setHover(null);
    void import('./draw.ts').then(({ drawChart }) => {
      if (!isHere || place.current === null) return;
      drawing.current = drawChart(place.current, {
        prepared: shown,
        labelled: whole.series,
        height,
        onHover: setHover,
        onEnds: (next) => setLabels((before) => (isSame(before, next) ? before : next)),
        onRange: choose.current === undefined ? undefined : (range) => choose.current?.(range),
      });
    });
    return () => {
      isHere = false;
      drawing.current?.remove();
      drawing.current = null;
    };
  }, [whole, shown, height, dark]);
  const save = (title: string, ending: 'png' | 'svg'): void => {
    const drawn = drawing.current;
    if (drawn !== null) void saveChart(title, ending, (words) => drawn.svg(words));
  };
  return { place, hover, labels, save };
}

function isSame(a: EndLabels | null, b: EndLabels | null): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
