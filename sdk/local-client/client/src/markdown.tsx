import { parse } from 'discord-markdown-parser';
import { type ComponentChildren, h, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { type Store, useStore } from './store';
import { t } from './texts';

type Node = ReturnType<typeof parse>[number];

/** A message's text, as Discord shows it. Nothing of it becomes markup but what is written here. */
export function Markdown({ text, extended = false }: { text: string; extended?: boolean }) {
  const store = useStore();
  const nodes = parse(text, extended ? 'extended' : 'normal');
  const isJumbo =
    nodes.length > 0 && /^(\p{Extended_Pictographic}|\p{Emoji_Modifier}|\uFE0F|\u200D|\s){1,24}$/u.test(text);
  return <div class={isJumbo ? 'text jumbo' : 'text'}>{nodesOf(nodes, store)}</div>;
}

function nodesOf(content: unknown, store: Store): ComponentChildren {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return null;
  return content.map((node: Node, index) => <Shown key={index} node={node} store={store} />);
}

type Plain = 'strong' | 'em' | 'u' | 's' | 'blockquote' | 'small';
const PLAIN: Readonly<Record<string, Plain>> = {
  strong: 'strong',
  em: 'em',
  underline: 'u',
  strikethrough: 's',
  blockQuote: 'blockquote',
  subtext: 'small',
};

function Shown({ node, store }: { node: Node; store: Store }): VNode {
  const inner = () => nodesOf(node.content, store);
  const id = String(node.id ?? '');
  const plain = PLAIN[node.type];
  if (plain !== undefined) return h(plain, null, inner());
  switch (node.type) {
    case 'heading':
      return <p class={`heading h${Number(node.level)}`}>{inner()}</p>;
    case 'br':
    case 'newline':
      return <br />;
    case 'inlineCode':
      return <code>{String(node.content)}</code>;
    case 'codeBlock':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
        <pre tabIndex={0}>
          <code>{String(node.content)}</code>
        </pre>
      );
    case 'spoiler':
      return <Spoiler>{inner()}</Spoiler>;
    case 'link':
    case 'url':
    case 'autolink':
      return <Link href={String(node.target ?? '')}>{inner()}</Link>;
    case 'user':
      return <span class="mention">@{store.nameOf(id) ?? t('unknown-user')}</span>;
    case 'role':
      return (
        <span class="mention">@{store.guild?.roles.find((role) => role.id === id)?.name ?? t('unknown-role')}</span>
      );
    case 'channel':
      return <ChannelMention id={id} store={store} />;
    case 'everyone':
    case 'here':
      return <span class="mention">@{node.type}</span>;
    case 'twemoji':
      // A character of its own.
      return <>{String(node.name ?? '')}</>;
    case 'emoji':
    case 'emojiCustom':
      return <>:{String(node.name ?? '')}:</>;
    case 'timestamp':
      return (
        <Moment seconds={Number(node.timestamp)} format={String(node.format ?? 'f')} now={Date.now() + store.aheadMs} />
      );
    case 'slashCommand':
      return <span class="mention">/{String(node.name ?? node.fullName ?? '')}</span>;
    default:
      return <>{inner()}</>;
  }
}

function ChannelMention({ id, store }: { id: string; store: Store }) {
  const channel = store.channels.find((one) => one.id === id);
  if (channel === undefined) return <span class="mention">#{t('unknown')}</span>;
  return (
    <button type="button" class="mention" onClick={() => void store.show(id)}>
      #{channel.name}
    </button>
  );
}

/** Only addresses that lead to pages. */
export function Link({ href, children }: { href: string; children: ComponentChildren }) {
  if (!/^https?:\/\//i.test(href)) return <>{children}</>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

function Spoiler({ children }: { children: ComponentChildren }) {
  const [isOpen, open] = useState(false);
  if (isOpen) return <span class="spoiler open">{children}</span>;
  return (
    <button type="button" class="spoiler" aria-label={t('Spoiler: show it')} onClick={() => open(true)}>
      <span aria-hidden="true">{children}</span>
    </button>
  );
}

const STYLES: Readonly<Record<string, Intl.DateTimeFormatOptions>> = {
  t: { timeStyle: 'short' },
  T: { timeStyle: 'medium' },
  d: { dateStyle: 'short' },
  D: { dateStyle: 'long' },
  f: { dateStyle: 'long', timeStyle: 'short' },
  F: { dateStyle: 'full', timeStyle: 'short' },
};

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

function Moment({ seconds, format, now }: { seconds: number; format: string; now: number }) {
  const date = new Date(seconds * 1_000);
  if (Number.isNaN(date.getTime())) return <>{seconds}</>;
  const full = date.toLocaleString(undefined, STYLES.F);
  const text =
    format === 'R' ? relative(seconds - now / 1_000) : date.toLocaleString(undefined, STYLES[format] ?? STYLES.f);
  return (
    <time dateTime={date.toISOString()} title={full}>
      {text}
    </time>
  );
}

function relative(seconds: number): string {
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? (['second', 1] as const);
  return new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' }).format(Math.round(seconds / size), unit);
}
