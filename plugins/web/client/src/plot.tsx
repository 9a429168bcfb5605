import type { WebBlock } from '@cinnabar/sdk';
import { useState } from 'preact/hooks';
import { locale, t } from './texts.js';
import { formatBytes, formatMs, formatNumber, formatUsd, Text } from './values.js';

type PlotBlock = Extract<WebBlock, { kind: 'plot' }>;

const [WIDTH, HEIGHT] = [640, 180];
const [LEFT, BOTTOM, TOP] = [56, 22, 10];
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

/** Series over time, with every value in a table beside it. */
export function Plot({ block: { title, style, unit, series, empty } }: { readonly block: PlotBlock }) {
  const [shown, setShown] = useState<number>();
  const times = [...new Set(series.flatMap(({ points }) => points.map(([time]) => time)))].sort(
    (one, other) => one - other,
  );
  if (times.length === 0)
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
  );
  const step = (WIDTH - LEFT) / times.length;
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
            <i class={`series s${index % 4}`} aria-hidden="true" />
            {name}
            {point === undefined ? null : <b> {format(at(index, point))}</b>}
          </span>
        ))}
        {point === undefined ? null : <span>{timeText(point)}</span>}
      </p>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={title}
        onMouseLeave={() => setShown(undefined)}
        onMouseMove={({ currentTarget, clientX }) => {
          const { left, width } = currentTarget.getBoundingClientRect();
          const index = Math.floor((((clientX - left) / width) * WIDTH - LEFT) / step);
          setShown(index >= 0 && index < times.length ? index : undefined);
        }}
      >
        {lines.map((value) => (
          <g key={value}>
            <line class="grid" x1={LEFT} x2={WIDTH} y1={y(value)} y2={y(value)} />
            <text x={LEFT - 6} y={y(value) + 4} text-anchor="end">
              {format(value)}
            </text>
          </g>
        ))}
        {[0, times.length - 1].map((index) => (
          <text key={index} x={index === 0 ? LEFT : WIDTH} y={HEIGHT - 4} text-anchor={index === 0 ? 'start' : 'end'}>
            {timeText(times[index] ?? 0)}
          </text>
        ))}
        {style === 'lines'
          ? series.map(({ name, points }, index) => (
              <polyline
                key={name}
                class={`series s${index % 4}`}
                points={points.map(([time, value]) => `${x(times.indexOf(time))},${y(value)}`).join(' ')}
              />
            ))
          : times.map((time, column) => {
              let below = 0;
              return series.map(({ name }, index) => {
                const value = at(index, time);
                const bar = (
                  <rect
                    key={`${name} ${time}`}
                    class={`series s${index % 4}`}
                    x={x(column) - step * 0.36}
                    width={step * 0.72}
                    y={y(below + value)}
                    height={y(below) - y(below + value)}
                  />
                );
                below += value;
                return bar;
              });
            })}
        {shown === undefined ? null : <line class="cursor" x1={x(shown)} x2={x(shown)} y1={TOP} y2={HEIGHT - BOTTOM} />}
      </svg>
      <details class="values">
        <summary>{t('As a table')}</summary>
        <div class="table">
          <table>
            <thead>
              <tr>
                <td />
                {series.map(({ name }) => (
                  <th key={name} scope="col" class="numeric">
                    {name}
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
      </details>
    </section>
  );
}

const sum = (values: readonly number[]): number => values.reduce((all, one) => all + one, 0);

/** The next of 1, 2, 3, 6 times a power of ten: then the grid has round values. */
function niceAbove(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 3, 6, 10].find((one) => one * power >= value) ?? 10) * power;
}
