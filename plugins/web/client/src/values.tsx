import type { WebLink, WebValue } from '@cinnabar/sdk';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { usePage } from './context.js';
import { hrefOf } from './router.js';
import { locale, t } from './texts.js';

const UNITS = [
  ['year', 31_557_600_000],
  ['month', 2_629_800_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

/** `3 hours ago`, `in 2 days` */
function relative(time: number): string {
  const distance = time - Date.now();
  const [unit, ms] = UNITS.find(([, one]) => Math.abs(distance) >= one) ?? UNITS[5];
  return new Intl.RelativeTimeFormat(locale(), { numeric: 'auto' }).format(Math.round(distance / ms), unit);
}

const exact = (time: number): string =>
  new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeStyle: 'medium' }).format(time);

export function formatUsd(usd: number): string {
  const digits = usd === 0 || usd >= 0.1 ? 2 : Math.min(6, 1 - Math.floor(Math.log10(usd)));
  return new Intl.NumberFormat(locale(), {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: 2,
    maximumFractionDigits: Math.max(2, digits),
  }).format(usd);
}

export function formatBytes(bytes: number): string {
  const [unit, size] =
    bytes >= 1e9
      ? (['gigabyte', 1e9] as const)
      : bytes >= 1e6
        ? (['megabyte', 1e6] as const)
        : (['kilobyte', 1e3] as const);
  return new Intl.NumberFormat(locale(), { style: 'unit', unit, maximumFractionDigits: 1 }).format(bytes / size);
}

export function formatMs(ms: number): string {
  const [unit, size] =
    ms >= 3_600_000
      ? (['hour', 3_600_000] as const)
      : ms >= 60_000
        ? (['minute', 60_000] as const)
        : ms >= 1_000
          ? (['second', 1_000] as const)
          : (['millisecond', 1] as const);
  return new Intl.NumberFormat(locale(), { style: 'unit', unit, maximumFractionDigits: 1 }).format(ms / size);
}

export const formatNumber = (number: number): string =>
  new Intl.NumberFormat(locale(), { maximumFractionDigits: 2 }).format(number);

const TICK_MS = 30_000;
const tickers = new Set<() => void>();
setInterval(() => {
  for (const tick of tickers) tick();
}, TICK_MS);

export function Time({ at }: { readonly at: number }) {
  const [, setNow] = useState(0);
  useEffect(() => {
    const tick = () => setNow(Date.now());
    tickers.add(tick);
    return () => void tickers.delete(tick);
  }, []);
  return (
    <time dateTime={new Date(at).toISOString()} title={exact(at)}>
      {relative(at)}
    </time>
  );
}

export function LinkTo({ link, children }: { readonly link: WebLink; readonly children: ComponentChildren }) {
  const { place } = usePage();
  const href = hrefOf(link, place.guildId);
  if ('download' in link)
    return (
      <a href={href} download>
        {children}
      </a>
    );
  if (!('discord' in link)) return <a href={href}>{children}</a>;
  return (
    <a href={href} target="_blank" rel="noreferrer" title={t('Opens Discord')}>
      {children}
    </a>
  );
}

/** Renders one value by its type. */
export function Value({ value }: { readonly value: WebValue }) {
  const { names } = usePage();
  if (value === null) return <span class="nothing">–</span>;
  if (typeof value === 'string') return <Text text={value} />;
  if ('count' in value) return <LinkTo link={value.link}>{formatNumber(value.count)}</LinkTo>;
  if ('measure' in value) return <>{formatNumber(value.measure)}</>;
  if ('time' in value) return <Time at={value.time} />;
  if ('durationMs' in value) return <>{formatMs(value.durationMs)}</>;
  if ('usd' in value) return <>{formatUsd(value.usd)}</>;
  if ('bytes' in value) return <>{formatBytes(value.bytes)}</>;
  if ('badge' in value) return <span class={`badge ${value.tone}`}>{value.badge}</span>;
  if ('code' in value) return <code>{value.code}</code>;
  if ('user' in value) return <Mention sign="@" name={names.users[value.user]} id={value.user} />;
  if ('channel' in value) return <Mention sign="#" name={names.channels[value.channel]} id={value.channel} />;
  if ('role' in value) return <Mention sign="@" name={names.roles[value.role]?.name} id={value.role} />;
  return <LinkTo link={value.link}>{value.text}</LinkTo>;
}

function Mention({
  sign,
  name,
  id,
}: {
  readonly sign: string;
  readonly name: string | undefined;
  readonly id: string;
}) {
  return name === undefined ? <code>{id}</code> : <span class="mention" title={id}>{`${sign}${name}`}</span>;
}

/** Renders the part of Discord's Markdown that the bot's sentences use; anything else is shown as plain text. */
const MARKUP =
  /```(?:\w*\n)?([\s\S]+?)```|(`+)([\s\S]+?)\2|\*\*(.+?)\*\*|__(.+?)__|\*([^*\n]+)\*|<(@!?|@&|#)(\d{15,22})>|<t:(\d{1,11})(?::[tTdDfFR])?>|\[([^\]\n]+)\]\((https:\/\/[^)\s]+)\)|<?(https:\/\/[^\s<>)]+)>?|\\([\\*_`~|#>\-.!()[\]])/g;

export function Text({ text }: { readonly text: string }) {
  const parts: ComponentChildren[] = [];
  let end = 0;
  for (const match of text.matchAll(MARKUP)) {
    parts.push(text.slice(end, match.index), <Marked match={match} />);
    end = match.index + match[0].length;
  }
  return <>{[...parts, text.slice(end)]}</>;
}

function Marked({ match }: { readonly match: RegExpMatchArray }) {
  const { names } = usePage();
  const [whole, fence, , code, strong, underlined, emphasis, sign, id, seconds, label, href, url, escaped] = match;
  if (fence !== undefined) return <pre class="code">{fence}</pre>;
  if (code !== undefined) return <code>{code}</code>;
  if (strong !== undefined)
    return (
      <strong>
        <Text text={strong} />
      </strong>
    );
  if (underlined !== undefined)
    return (
      <u>
        <Text text={underlined} />
      </u>
    );
  if (emphasis !== undefined)
    return (
      <em>
        <Text text={emphasis} />
      </em>
    );
  if (sign !== undefined && id !== undefined) {
    if (sign === '#') return <Mention sign="#" name={names.channels[id]} id={id} />;
    return <Mention sign="@" name={sign === '@&' ? names.roles[id]?.name : names.users[id]} id={id} />;
  }
  if (seconds !== undefined) return <Time at={Number(seconds) * 1_000} />;
  const target = href ?? url;
  if (target !== undefined && URL.canParse(target))
    return (
      <>
        <a href={target} target="_blank" rel="noreferrer noopener">
          {label ?? target}
        </a>
        {/* Anyone may have written it: the link's name says nothing about its target. */}
        {label === undefined ? null : <small> ({new URL(target).host})</small>}
      </>
    );
  return <>{escaped ?? whole}</>;
}
