import { type ComponentChildren, h, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { type ListItem, type MarkdownNode, parseMarkdown, plainText } from './markdown-parser';
import { type Store, useNow, useStillStore } from './store';
import { t } from './texts';

/** Deeper nesting is never meaningful; deeper levels are plain text, so that no message can exhaust the browser's stack. */
const MAX_DEPTH = 16;

/** Renders a message's text like Discord. Only the elements below can become markup. */
export function Markdown({ text }: { text: string }) {
  const store = useStillStore();
  const isJumbo = /^(\p{Extended_Pictographic}|\p{Emoji_Modifier}|\uFE0F|\u200D|\s){1,24}$/u.test(text);
  return (
    <div class={isJumbo ? 'text jumbo' : 'text'} dir="auto">
      {nodesOf(parseMarkdown(text), store, 0)}
    </div>
  );
}

function nodesOf(content: unknown, store: Store, depth: number): ComponentChildren {
  if (depth > MAX_DEPTH) return plainText(content);
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return null;
  return content.map((node: MarkdownNode, index) => <Shown key={index} node={node} store={store} depth={depth} />);
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

function Shown({ node, store, depth }: { node: MarkdownNode; store: Store; depth: number }): VNode {
  const inner = () => nodesOf(node.content, store, depth + 1);
  const id = String(node.id ?? '');
  const plain = PLAIN[node.type];
  if (plain !== undefined) return h(plain, null, inner());
  switch (node.type) {
    case 'heading':
      return <p class={`heading h${Number(node.level)}`}>{inner()}</p>;
    case 'list':
      return (
        <ul class="list">
          {node.items.map((item: ListItem, index: number) => (
            <li key={index} class={`depth${item.depth}`} data-marker={item.marker}>
              <span>{nodesOf(item.content, store, depth + 1)}</span>
            </li>
          ))}
        </ul>
      );
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
      // A single character.
      return <>{String(node.name ?? '')}</>;
    case 'emoji':
    case 'emojiCustom':
      return <>:{String(node.name ?? '')}:</>;
    case 'timestamp':
      return <Moment seconds={Number(node.timestamp)} format={String(node.format ?? 'f')} />;
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

/** Only http and https addresses. */
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

function Moment({ seconds, format }: { seconds: number; format: string }) {
  const date = new Date(seconds * 1_000);
  if (Number.isNaN(date.getTime())) return <>{seconds}</>;
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString(undefined, STYLES.F)}>
      {format === 'R' ? <Distance seconds={seconds} /> : date.toLocaleString(undefined, STYLES[format] ?? STYLES.f)}
    </time>
  );
}

/** Follows the clock, also when it is moved. */
function Distance({ seconds }: { seconds: number }) {
  return <>{relative(seconds - useNow() / 1_000)}</>;
}

function relative(seconds: number): string {
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? (['second', 1] as const);
  return new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' }).format(Math.round(seconds / size), unit);
}
