import { useComputedColorScheme } from '@mantine/core';
import type { TrafficBucket } from '@sallyport/contract';
import { useEffect, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatDay, formatNumber, formatTime } from '../../../../i18n/formats.ts';
import classes from './traffic.module.css';

interface ChartProps {
  buckets: readonly TrafficBucket[];
  label: string;
  /** Told which bucket is pointed at; null: none. */
  onPoint: (bucket: TrafficBucket | null) => void;
}

const HEIGHT = 200;
const FONT = '12px system-ui, sans-serif';
/** A scale that ends here makes a single error no mountain. */
const LEAST_TOP = 5;

/** A colour of the style sheet, in this scheme, as a canvas takes it. */
const colourOf = (host: HTMLElement, name: string | undefined): string => {
  const probe = host.appendChild(document.createElement('span'));
  probe.className = name ?? '';
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
};

const range = (_chart: UPlot, _least: number | null, most: number | null): UPlot.Range.MinMax => [
  0,
  Math.max(LEAST_TOP, (most ?? 0) * 1.08),
];

const compact = (values: number[]): string[] =>
  // Between whole numbers there are no requests.
  values.map((value) =>
    Number.isInteger(value) ? formatNumber(value, { notation: 'compact', maximumFractionDigits: 1 }) : '',
  );

/** A bucket of which a part is unknown is a gap: its sum would look like a fall. */
const dataOf = (buckets: readonly TrafficBucket[]): UPlot.AlignedData => {
  const values = (name: 'requests' | 'client_errors' | 'server_errors') =>
    buckets.map((bucket) => (bucket.unknown_minutes === 0 ? bucket[name] : null));
  return [
    buckets.map(({ at }) => Date.parse(at) / 1_000),
    values('requests'),
    values('client_errors'),
    values('server_errors'),
  ];
};

/** Buckets between gaps: no line leads to one, so that it would not be seen. */
const lonePoints = (chart: UPlot, series: number): number[] => {
  const values = chart.data[series] ?? [];
  return [...values.keys()].filter(
    (index) => values[index] != null && values[index - 1] == null && values[index + 1] == null,
  );
};

const optionsOf = (host: HTMLElement, point: (index: number | null | undefined) => void): UPlot.Options => {
  const colour = (name: keyof typeof classes): string => colourOf(host, classes[name]);
  const [text, grid] = [colour('text'), colour('grid')];
  const axis = { stroke: text, font: FONT, ticks: { show: false } };
  const counts = { ...axis, size: 48, values: (_chart: UPlot, values: number[]) => compact(values) };
  const line = { width: 1.5, points: { show: true, size: 4, filter: lonePoints }, spanGaps: false };
  return {
    width: host.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, y: false, points: { size: 6 } },
    scales: { requests: { range }, errors: { range } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        space: 76,
        values: (_chart, moments) =>
          moments.map((at) => {
            const moment = new Date(at * 1_000);
            return moment.getHours() + moment.getMinutes() === 0 ? formatDay(moment) : formatTime(moment);
          }),
      },
      { ...counts, scale: 'requests', grid: { stroke: grid, width: 1 } },
      { ...counts, scale: 'errors', side: 1, grid: { show: false } },
    ],
    series: [
      {},
      { ...line, scale: 'requests', stroke: colour('requests'), fill: colour('area') },
      { ...line, scale: 'errors', stroke: colour('client'), dash: [5, 3] },
      { ...line, scale: 'errors', stroke: colour('server') },
    ],
    hooks: { setCursor: [(chart) => point(chart.cursor.idx)] },
  };
};

/** Draws buckets: requests as an area, errors as lines on a scale of their own, and nothing where nothing is known. */
const Chart = ({ buckets, label, onPoint }: ChartProps) => {
  const scheme = useComputedColorScheme();
  const { i18n } = useTranslation();
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<UPlot>(null);
  const shown = useRef({ buckets, onPoint });
  shown.current = { buckets, onPoint };

  // biome-ignore lint/correctness/useExhaustiveDependencies: colours and words are read when it is made
  useEffect(() => {
    const element = host.current;
    if (!element) return;
    const point = (index: number | null | undefined) => {
      const bucket = typeof index === 'number' ? shown.current.buckets[index] : undefined;
      shown.current.onPoint(bucket ?? null);
    };
    const made = new UPlot(optionsOf(element, point), dataOf(shown.current.buckets), element);
    chart.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.destroy();
      chart.current = null;
    };
  }, [scheme, i18n.resolvedLanguage]);

  useEffect(() => chart.current?.setData(dataOf(buckets)), [buckets]);

  return <div ref={host} className={classes.chart} role="img" aria-label={label} />;
};

export default Chart;
