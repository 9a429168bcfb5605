import type { WebBlock } from '@cinnabar/sdk';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { locale, t } from './texts.js';
import { formatBytes, formatMs, formatNumber, formatUsd, Text } from './values.js';

type PlotBlock = Extract<WebBlock, { kind: 'plot' }>;

/** In pixels; as wide as its container, so that its text has the usual size. */
const HEIGHT = 180;
const FIRST_WIDTH = 640;
const [LEFT, BOTTOM, TOP] = [64, 22, 10];
const MOST_BAR = 48;
const GRID_LINES = 3;

const FORMATS: Readonly<Record<PlotBlock['unit'], (value: number) => string>> = {
  number: formatNumber,
  usd: formatUsd,
  ms: formatMs,
  bytes: formatBytes,
  percent: (value) => `${formatNumber(value)} %`,
};

const day = (time: number): string =>
  new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeZone: 'UTC' }).format(time);
const dayAndTime = (time: number): string =>
  new Intl.DateTimeFormat(locale(), { timeStyle: 'short', dateStyle: 'short' }).format(time);

const COLORS = 4;
/** With more lines than colors, the next ones are dashed. */
const seriesClass = (index: number): string =>
  `series s${index % COLORS}${Math.floor(index / COLORS) % 2 === 1 ? ' dashed' : ''}`;

/** Series over time, with every value in a table beside it. */
export function Plot({ block: { title, style, unit, series, empty } }: { readonly block: PlotBlock }) {
  const [shown, setShown] = useState<number>();
  const [isListed, setListed] = useState(false);
  const frame = useRef<SVGSVGElement>(null);
  const [width, setWidth] = useState(FIRST_WIDTH);
  const times = [...new Set(series.flatMap(({ points }) => points.map(([time]) => time)))].sort(
    (one, other) => one - other,
  );
  const isEmpty = times.length === 0;
  useLayoutEffect(() => {
    const { current } = frame;
    if (current === null) return undefined;
    const observer = new ResizeObserver(() => setWidth(Math.max(current.clientWidth, 2 * LEFT)));
    observer.observe(current);
    return () => observer.disconnect();
  }, [isEmpty]);
  if (isEmpty)
    return (
      <section class="card">
        <h2>{title}</h2>
        <p class="empty">
          <Text text={empty} />
        </p>
      </section>
    );
  const format = FORMATS[unit];
  const at = (index: number, time: number): number => series[index]?.points.find(([one]) => one === time)?.[1] ?? 0;
  const most = niceAbove(
    Math.max(
      ...times.map((time) =>
        style === 'bars'
          ? sum(series.map((_, index) => at(index, time)))
          : Math.max(...series.map((_, index) => at(index, time))),
      ),
    ),
    unit === 'number',
  );
  const step = (width - LEFT) / times.length;
  const bar = Math.min(step * 0.72, MOST_BAR);
  const x = (index: number) => LEFT + step * (index + 0.5);
  const y = (value: number) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / most);
  const timeText = style === 'bars' ? day : dayAndTime;
  const lines = Array.from({ length: GRID_LINES + 1 }, (_, line) => (most * line) / GRID_LINES);
  const point = shown === undefined ? undefined : times[shown];
  return (
    <section class="card plot">
      <h2>{title}</h2>
      <p class="legend" aria-live="off">
        {series.map(({ name }, index) => (
          <span key={name}>
            <i class={seriesClass(index)} aria-hidden="true" />
            <Text text={name} />
            {point === undefined ? null : <b> {format(at(index, point))}</b>}
          </span>
        ))}
        {point === undefined ? null : <span>{timeText(point)}</span>}
      </p>
      <svg
        ref={frame}
        height={HEIGHT}
        role="img"
        aria-label={title}
        onMouseLeave={() => setShown(undefined)}
        onMouseMove={({ currentTarget, clientX }) => {
          const index = Math.floor((clientX - currentTarget.getBoundingClientRect().left - LEFT) / step);
          setShown(index >= 0 && index < times.length ? index : undefined);
        }}
      >
        {lines.map((value) => (
          <g key={value}>
            <line class="grid" x1={LEFT} x2={width} y1={y(value)} y2={y(value)} />
            <text x={LEFT - 6} y={y(value) + 4} text-anchor="end">
              {format(value)}
            </text>
          </g>
        ))}
        {[...new Set([0, times.length - 1])].map((index) => (
          <text key={index} x={index === 0 ? LEFT : width} y={HEIGHT - 4} text-anchor={index === 0 ? 'start' : 'end'}>
            {timeText(times[index] ?? 0)}
          </text>
        ))}
        {style === 'lines'
          ? series.map(({ name, points }, index) => {
              const [first] = points;
              // A line needs two points.
              if (points.length === 1 && first !== undefined)
                return (
                  <circle
                    key={name}
                    class={seriesClass(index)}
                    cx={x(times.indexOf(first[0]))}
                    cy={y(first[1])}
                    r={3}
                  />
                );
              return (
                <polyline
                  key={name}
                  class={seriesClass(index)}
                  points={points.map(([time, value]) => `${x(times.indexOf(time))},${y(value)}`).join(' ')}
                />
              );
            })
          : times.map((time, column) => {
              let below = 0;
              return series.map(({ name }, index) => {
                const value = at(index, time);
                const drawn = (
                  <rect
                    key={`${name} ${time}`}
                    class={seriesClass(index)}
                    x={x(column) - bar / 2}
                    width={bar}
                    y={y(below + value)}
                    height={y(below) - y(below + value)}
                  />
                );
                below += value;
                return drawn;
              });
            })}
        {shown === undefined ? null : <line class="cursor" x1={x(shown)} x2={x(shown)} y1={TOP} y2={HEIGHT - BOTTOM} />}
      </svg>
      <details class="values" onToggle={({ currentTarget }) => setListed(currentTarget.open)}>
        <summary>{t('As a table')}</summary>
        {/* The table has a row for each point, so it is built only when it is opened. */}
        {isListed ? (
          <div class="table">
            <table>
              <thead>
                <tr>
                  <td />
                  {series.map(({ name }) => (
                    <th key={name} scope="col" class="numeric">
                      <Text text={name} />
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {times.toReversed().map((time) => (
                  <tr key={time}>
                    <td>{timeText(time)}</td>
                    {series.map(({ name }, index) => (
                      <td key={name} class="numeric">
                        {format(at(index, time))}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        ) : null}
      </details>
    </section>
  );
}

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);

/** The next value above that `GRID_LINES` divides into round steps; into whole ones for counts. */
function niceAbove(value: number, isCount: boolean): number {
  if (value <= 0) return GRID_LINES;
  const power = 10 ** Math.floor(Math.log10(value));
  const tops = [1.2, 1.5, 3, 6, 9, 12].map((one) => one * power);
  return Math.max(
    isCount ? GRID_LINES : 0,
    tops.find((one) => one >= value && (!isCount || one % GRID_LINES === 0)) ?? 12 * power,
  );
}
