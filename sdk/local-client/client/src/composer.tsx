import { useEffect, useRef, useState } from 'preact/hooks';
import { readFile } from './files';
import { type Path, pathsOf, SlashForm } from './slash';
import { type Store, useStore } from './store';

interface Suggestion {
  label: string;
  hint: string;
  choose(): void;
}

const SHOWN = 8;
const TYPING_EVERY_MS = 8_000;

/** Where one writes: text, mentions, commands, files. */
export function Composer() {
  const store = useStore();
  const { channel, editing, replyTo } = store;
  const [text, write] = useState('');
  const [files, attach] = useState<readonly File[]>([]);
  const [commands, setCommands] = useState<readonly Path[]>([]);
  const [command, use] = useState<Path>();
  const [at, move] = useState(0);
  const [isDismissed, dismiss] = useState(false);
  const typedAt = useRef(0);
  const box = useRef<HTMLTextAreaElement>(null);
  const isSlash = text.startsWith('/') && !editing;

  useEffect(() => {
    if (editing) write(withNames(editing.content, store));
  }, [editing, store]);
  useEffect(() => {
    use(undefined);
  }, [channel?.id]);
  useEffect(() => {
    if (!isSlash || channel === undefined) return;
    store
      .act({ act: 'commands', channel: channel.id })
      .then((found) => setCommands(pathsOf(found.commands)))
      .catch(() => setCommands([]));
  }, [isSlash, channel?.id, store]);

  if (channel === undefined) return null;
  if (!channel.writable) return <p class="composer quiet">You cannot write here.</p>;
  const leave = () => {
    store.replyTo = undefined;
    store.editing = undefined;
    write('');
    store.changed();
  };
  if (command)
    return (
      <SlashForm
        command={command}
        onDone={() => {
          use(undefined);
          write('');
          requestAnimationFrame(() => box.current?.focus());
        }}
      />
    );

  const suggestions = isDismissed ? [] : isSlash ? commandsLike(commands, text, use) : mentionsLike(store, text, write);
  const send = async () => {
    const content = withIds(text.trim(), store);
    if (content === '' && files.length === 0) return;
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
    attach([]);
    leave();
  };
  /** Whether the key was for the suggestions. */
  const choosing = ({ key, shiftKey }: KeyboardEvent): boolean => {
    const chosen = suggestions[at % Math.max(1, suggestions.length)];
    if (chosen === undefined) return false;
    if (key === 'ArrowDown') move((at + 1) % suggestions.length);
    else if (key === 'ArrowUp') move((at + suggestions.length - 1) % suggestions.length);
    else if ((key === 'Tab' || key === 'Enter') && !shiftKey) chosen.choose();
    else if (key === 'Escape') dismiss(true);
    else return false;
    return true;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    if (choosing(event)) event.preventDefault();
    else if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      void send();
    } else if (event.key === 'Escape') leave();
  };
  const onInput = (value: string) => {
    write(value);
    move(0);
    dismiss(false);
    if (value === '' || value.startsWith('/') || Date.now() - typedAt.current < TYPING_EVERY_MS) return;
    typedAt.current = Date.now();
    store.act({ act: 'typing', channel: channel.id }).catch(() => undefined);
  };
  const place = store.world?.dms.some(({ id }) => id === channel.id) ? `@${channel.name}` : `#${channel.name}`;
  return (
    <div class="composer">
      {suggestions.length > 0 && (
        <div id="suggestions" role="listbox" aria-label="Suggestions">
          {suggestions.map(({ label, hint, choose }, index) => (
            // biome-ignore lint/a11y/useFocusableInteractive lint/a11y/useKeyWithClickEvents: the text box has the focus and its keys
            <div
              key={label}
              id={`suggestion-${index}`}
              role="option"
              aria-selected={index === at}
              onClick={() => {
                choose();
                box.current?.focus();
              }}
            >
              <strong>{label}</strong> <span class="quiet">{hint}</span>
            </div>
          ))}
        </div>
      )}
      {(replyTo || editing) && (
        <p class="context">
          {editing ? 'Editing your message' : `Replying to ${store.nameOf(replyTo?.author.id ?? '') ?? 'a message'}`}
          <button type="button" class="plain" onClick={leave}>
            Cancel
          </button>
        </p>
      )}
      {files.length > 0 && (
        <p class="context">
          {files.map(({ name }) => name).join(', ')}
          <button type="button" class="plain" onClick={() => attach([])}>
            Remove
          </button>
        </p>
      )}
      <div class="writing">
        <label class="button" title="Attach files">
          <span aria-hidden="true">+</span>
          <input
            type="file"
            multiple
            aria-label="Attach files"
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
          aria-controls={suggestions.length > 0 ? 'suggestions' : undefined}
          aria-autocomplete="list"
          aria-activedescendant={suggestions.length > 0 ? `suggestion-${at}` : undefined}
          aria-label={`Message ${place}`}
          placeholder={`Message ${place}, or / for commands`}
          value={text}
          onInput={({ currentTarget }) => onInput(currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        <button type="button" class="primary" onClick={() => void send()}>
          {editing ? 'Save' : 'Send'}
        </button>
      </div>
    </div>
  );
}

function commandsLike(commands: readonly Path[], text: string, use: (path: Path) => void): Suggestion[] {
  const wanted = text.slice(1).trim().toLowerCase();
  const starting = commands.filter(({ path }) => path.startsWith(wanted));
  const others = commands.filter(({ path }) => !path.startsWith(wanted) && path.includes(wanted));
  return [...starting, ...others]
    .slice(0, SHOWN)
    .map((path) => ({ label: `/${path.path}`, hint: path.description, choose: () => use(path) }));
}

function mentionsLike(store: Store, text: string, write: (text: string) => void): Suggestion[] {
  const typed = /(^|\s)([@#])([^\s@#]*)$/.exec(text);
  if (typed === null) return [];
  const [, , sign = '', start = ''] = typed;
  const names = sign === '#' ? (store.guild?.channels ?? []) : mentionable(store);
  return names
    .filter(({ name }) => name.toLowerCase().startsWith(start.toLowerCase()))
    .slice(0, SHOWN)
    .map(({ name }) => ({
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

/** `@alice` and `#general` become mentions, where there is such a member, role or channel; the longest name first. */
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

function withNames(text: string, store: Store): string {
  return text
    .replace(/<@!?(\d+)>/g, (whole, id: string) => (store.nameOf(id) ? `@${store.nameOf(id)}` : whole))
    .replace(/<#(\d+)>/g, (whole, id: string) => {
      const found = store.channels.find((channel) => channel.id === id);
      return found ? `#${found.name}` : whole;
    });
}
