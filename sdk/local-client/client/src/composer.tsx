import type { SeenChannel } from '@cinnabar/local-discord';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { readFile, refusalOf } from './files';
import { type Path, pathsOf, SlashForm } from './slash';
import { type Draft, type Store, useStore, withNames } from './store';
import { type Suggestion, useSuggestions } from './suggestions';
import { t } from './texts';

/** Maximum number of suggested names; typing more narrows them down. */
const SHOWN_NAMES = 8;
const TYPING_EVERY_MS = 8_000;
const NOTHING: Draft = { text: '', files: [] };

/** The input for text, mentions, commands and files. */
export function Composer() {
  const { channel } = useStore();
  if (channel === undefined) return null;
  if (!channel.writable) return <p class="composer quiet">{t('You cannot write here.')}</p>;
  return <Writing key={channel.id} channel={channel} />;
}

function Writing({ channel }: { channel: SeenChannel }) {
  const store = useStore();
  const { editing, replyTo } = store;
  const [draft, setDraft] = useState(store.drafts.get(channel.id) ?? NOTHING);
  const [edited, edit] = useState('');
  /** `undefined` until they are loaded. */
  const [commands, setCommands] = useState<readonly Path[]>();
  const [command, use] = useState<Path>();
  const typedAt = useRef(0);
  const box = useRef<HTMLTextAreaElement>(null);
  const { files } = draft;
  const text = editing ? edited : draft.text;
  const isSlash = text.startsWith('/') && !editing;

  useLayoutEffect(() => {
    if (editing) edit(withNames(editing.content, store));
  }, [editing, store]);
  useEffect(() => {
    setCommands(undefined);
    if (!isSlash) return;
    store
      .act({ act: 'commands', channel: channel.id })
      .then((found) => setCommands(pathsOf(found.commands)))
      .catch(() => setCommands([]));
  }, [isSlash, channel.id, store]);

  const keep = (next: Draft) => {
    store.drafts.set(channel.id, next);
    setDraft(next);
  };
  const write = (next: string) => (editing ? edit(next) : keep({ ...draft, text: next }));
  const attach = (more: readonly File[]) => {
    const all = [...files, ...more];
    const refusal = refusalOf(all);
    if (refusal === undefined) keep({ ...draft, files: all });
    else store.tell(refusal);
  };
  const leave = () => {
    store.replyTo = undefined;
    store.editing = undefined;
    store.changed();
  };
  const suggestions = useSuggestions(
    isSlash ? commands && commandsLike(commands, text, use) : mentionsLike(store, text, write),
    0,
  );
  if (command)
    return (
      <SlashForm
        command={command}
        onDone={() => {
          use(undefined);
          keep({ ...draft, text: '' });
          requestAnimationFrame(() => box.current?.focus());
        }}
      />
    );

  const send = async () => {
    const content = withIds(text.trim(), store);
    if ((content === '' && (files.length === 0 || editing)) || (isSlash && commands === undefined)) return;
    const done = editing
      ? await store.try({ act: 'edit', channel: channel.id, message: editing.id, content })
      : await store.try({
          act: 'say',
          channel: channel.id,
          content,
          ...(replyTo && { replyTo: replyTo.id }),
          ...(files.length > 0 && { files: await Promise.all(files.map(readFile)) }),
        });
    if (!done) return;
    if (!editing) keep(NOTHING);
    leave();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing || suggestions.onKey(event)) return;
    if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      void send();
    } else if (event.key === 'Escape') leave();
    else if (event.key === 'ArrowUp' && text === '' && !editing) {
      event.preventDefault();
      store.editLast();
    }
  };
  const onInput = (value: string) => {
    write(value);
    suggestions.start();
    if (value === '' || value.startsWith('/') || Date.now() - typedAt.current < TYPING_EVERY_MS) return;
    typedAt.current = Date.now();
    store.act({ act: 'typing', channel: channel.id }).catch(() => undefined);
  };
  const place = store.world?.dms.some(({ id }) => id === channel.id) ? `@${channel.name}` : `#${channel.name}`;
  return (
    <div class="composer">
      {suggestions.list}
      {(replyTo || editing) && (
        <p class="context">
          {editing
            ? t('Editing your message')
            : t('Replying to {name}', { name: store.nameOf(replyTo?.author.id ?? '') ?? t('a message') })}
          <button type="button" class="plain" onClick={leave}>
            {t('Cancel')}
          </button>
        </p>
      )}
      {files.length > 0 && (
        <p class="context">
          {files.map(({ name }) => name).join(', ')}
          <button type="button" class="plain" onClick={() => keep({ ...draft, files: [] })}>
            {t('Remove')}
          </button>
        </p>
      )}
      <div class="writing">
        <label class="button" title={t('Attach files')}>
          <span aria-hidden="true">+</span>
          <input
            type="file"
            multiple
            aria-label={t('Attach files')}
            onChange={({ currentTarget }) => {
              attach([...(currentTarget.files ?? [])]);
              currentTarget.value = '';
            }}
          />
        </label>
        <textarea
          id="composer"
          ref={box}
          rows={Math.min(8, text.split('\n').length)}
          {...suggestions.field}
          aria-label={t('Message {place}', { place })}
          placeholder={t('Message {place}, or / for commands', { place })}
          value={text}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
          onKeyDown={onKeyDown}
          onPaste={({ clipboardData }) => {
            if (clipboardData && clipboardData.files.length > 0) attach([...clipboardData.files]);
          }}
        />
        <button type="button" class="primary" onClick={() => void send()}>
          {editing ? t('Save') : t('Send')}
        </button>
      </div>
    </div>
  );
}

function commandsLike(commands: readonly Path[], text: string, use: (path: Path) => void): Suggestion[] {
  const wanted = text.slice(1).trim().toLowerCase();
  const starting = commands.filter(({ path }) => path.startsWith(wanted));
  const others = commands.filter(({ path }) => !path.startsWith(wanted) && path.includes(wanted));
  return [...starting, ...others].map((path) => ({
    label: `/${path.path}`,
    hint: path.description,
    choose: () => use(path),
  }));
}

function mentionsLike(store: Store, text: string, write: (text: string) => void): Suggestion[] {
  const typed = /(^|\s)([@#])([^\s@#]*)$/.exec(text);
  if (typed === null) return [];
  const [, , sign = '', start = ''] = typed;
  const names = sign === '#' ? (store.guild?.channels ?? []) : mentionable(store);
  return [...new Set(names.map(({ name }) => name))]
    .filter((name) => name.toLowerCase().startsWith(start.toLowerCase()))
    .slice(0, SHOWN_NAMES)
    .map((name) => ({
      label: `${sign}${name}`,
      hint: '',
      choose: () => write(`${text.slice(0, text.length - start.length)}${name} `),
    }));
}

function mentionable(store: Store): readonly { id: string; name: string; mention: string }[] {
  const people = store.guild?.members ?? store.world?.people ?? [];
  const roles = (store.guild?.roles ?? []).filter(({ name }) => name !== '@everyone');
  return [
    ...people.map(({ id, name }) => ({ id, name, mention: `<@${id}>` })),
    ...roles.map(({ id, name }) => ({ id, name, mention: `<@&${id}>` })),
  ];
}

/** Replaces `@alice` and `#general` by mentions if such a member, role or channel exists; the longest name first. */
function withIds(text: string, store: Store): string {
  const named = [
    ...mentionable(store).map(({ name, mention }) => ({ typed: `@${name}`, mention })),
    ...(store.guild?.channels ?? []).map(({ id, name }) => ({ typed: `#${name}`, mention: `<#${id}>` })),
  ].sort((a, b) => b.typed.length - a.typed.length);
  if (named.length === 0) return text;
  const pattern = new RegExp(
    `(?<![\\p{L}\\p{N}<])(${named.map(({ typed }) => typed.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})(?![\\p{L}\\p{N}_])`,
    'gu',
  );
  return text.replace(pattern, (typed) => named.find((one) => one.typed === typed)?.mention ?? typed);
}
