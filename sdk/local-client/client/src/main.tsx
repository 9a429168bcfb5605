import type { SeenChannel, SeenGuild, Snapshot } from '@cinnabar/local-discord';
import { type APIMessage, ChannelType } from 'discord-api-types/v10';
import { render } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Composer } from './composer';
import type { ConnectionState } from './connection';
import { Avatar, Message } from './message';
import { Modal } from './modal';
import { Store, StoreContext, useNow, useStillStore, useStore } from './store';
import { speak, t } from './texts';
import './style.css';

/** The key and the member: the part after the # is sent only to the server's socket. */
function addressOf(hash: string): { key: string; as: string } {
  const given = new URLSearchParams(hash.replace(/^#/, ''));
  return { key: given.get('key') ?? '', as: given.get('as') ?? '' };
}

function App() {
  const [store, setStore] = useState<Store>();
  useEffect(() => {
    let current: Store | undefined;
    const open = () => {
      current?.close();
      current = new Store(addressOf(location.hash));
      setStore(current);
    };
    const onSeen = () => current?.seen();
    open();
    addEventListener('hashchange', open);
    document.addEventListener('visibilitychange', onSeen);
    return () => {
      removeEventListener('hashchange', open);
      document.removeEventListener('visibilitychange', onSeen);
      current?.close();
    };
  }, []);
  if (store === undefined) return null;
  return (
    <StoreContext.Provider value={store} key={store.address.as}>
      <Page />
    </StoreContext.Provider>
  );
}

function Page() {
  const store = useStore();
  const [panel, open] = useState<Panel>();
  const { world, channel, state } = store;
  const unread = store.channels.reduce((sum, { unread: each }) => sum + each, 0);
  useEffect(() => {
    document.title = `${unread > 0 ? `(${unread}) ` : ''}${channel?.name ?? t('Local Discord')}`;
  }, [unread, channel?.name]);
  if (world === undefined)
    return (
      <main class="alone">
        <h1>{t('Local Discord')}</h1>
        <p role="status">{waiting(state)}</p>
      </main>
    );
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape comes from what stands in it
    <div
      class={`page ${panel ?? ''}`}
      onKeyDown={({ key }) => {
        if (key !== 'Escape' || panel === undefined) return;
        open(undefined);
        document.getElementById(`open-${panel}`)?.focus();
      }}
    >
      <button type="button" class="skip" onClick={() => document.getElementById('composer')?.focus()}>
        {t('Skip to the message box')}
      </button>
      <Sidebar onChosen={() => open(undefined)} />
      <main>
        <header>
          <PanelButton panel="channels" label={t('Channels')} isOpen={panel === 'channels'} open={open} />
          <h1>{channel ? titleOf(channel) : t('No channel')}</h1>
          {channel?.topic && <p class="quiet topic">{channel.topic}</p>}
          {store.guild && <PanelButton panel="members" label={t('Members')} isOpen={panel === 'members'} open={open} />}
        </header>
        {state !== 'online' && (
          <p class="banner" role="status">
            {waiting(state)}
          </p>
        )}
        <Messages />
        <div class="status">
          {!store.notice && <Typing />}
          <p role="alert" class={store.notice ? 'notice' : 'sr-only'}>
            {store.notice}
          </p>
        </div>
        <Composer />
      </main>
      <Members onChosen={() => open(undefined)} />
      <Modal />
    </div>
  );
}

/** The panel beside the messages; on a narrow screen above them, once it is opened. */
type Panel = 'channels' | 'members';

interface PanelButtonProps {
  panel: Panel;
  label: string;
  isOpen: boolean;
  open: (panel: Panel | undefined) => void;
}

/** Shown if the screen has no room for the panel. */
function PanelButton({ panel, label, isOpen, open }: PanelButtonProps) {
  useLayoutEffect(() => {
    if (isOpen) document.querySelector<HTMLElement>(`#${panel} button:not(:disabled)`)?.focus();
  }, [isOpen, panel]);
  return (
    <button
      type="button"
      id={`open-${panel}`}
      class={`plain open-${panel}`}
      aria-expanded={isOpen}
      onClick={() => open(isOpen ? undefined : panel)}
    >
      {label}
    </button>
  );
}

function waiting(state: ConnectionState): string {
  switch (state) {
    case 'connecting':
      return t('Connecting …');
    case 'online':
      return t('Connected.');
    case 'offline':
      return t('The local Discord cannot be reached. Trying again …');
    case 'refused':
      return t('This address is no longer valid. Open the one that npm start has printed.');
  }
}

function titleOf({ type, name }: SeenChannel): string {
  if (type === ChannelType.DM) return `@${name}`;
  return isThread(type) ? name : `#${name}`;
}

function isThread(type: ChannelType): boolean {
  return [ChannelType.PublicThread, ChannelType.PrivateThread, ChannelType.AnnouncementThread].includes(type);
}

function Sidebar({ onChosen }: { onChosen: () => void }) {
  const store = useStore();
  const { world } = store;
  if (world === undefined) return null;
  return (
    <nav id="channels" aria-label={t('Channels')} class="sidebar">
      <div class="places">
        {world.guilds.map((guild) => (
          <Guild key={guild.id} guild={guild} onChosen={onChosen} />
        ))}
        <h2>{t('Direct messages')}</h2>
        {world.dms.length === 0 && <p class="quiet hint">{t('None yet. Choose a member to write to.')}</p>}
        <ul>
          {world.dms.map((dm) => (
            <Place key={dm.id} channel={dm} onChosen={onChosen} />
          ))}
        </ul>
      </div>
      <Me />
    </nav>
  );
}

function Guild({ guild, onChosen }: { guild: SeenGuild; onChosen: () => void }) {
  const byPosition = [...guild.channels].sort(
    (a, b) => a.position - b.position || (BigInt(a.id) < BigInt(b.id) ? -1 : 1),
  );
  const below = (parentId: string | null) =>
    byPosition.filter((one) => one.parentId === parentId && !isThread(one.type));
  const list = (channels: readonly SeenChannel[]) => (
    <ul>
      {channels.map((channel) => (
        <Place key={channel.id} channel={channel} onChosen={onChosen}>
          {byPosition.filter((one) => isThread(one.type) && one.parentId === channel.id)}
        </Place>
      ))}
    </ul>
  );
  return (
    <>
      <h2>{guild.name}</h2>
      {guild.channels.length === 0 && <p class="quiet hint">{t('There is no channel that you can see.')}</p>}
      {list(below(null).filter(({ type }) => type !== ChannelType.GuildCategory))}
      {below(null)
        .filter(({ type }) => type === ChannelType.GuildCategory)
        .map((category) => (
          <div key={category.id}>
            <h3>{category.name}</h3>
            {list(below(category.id))}
          </div>
        ))}
    </>
  );
}

interface PlaceProps {
  channel: SeenChannel;
  onChosen: () => void;
  children?: readonly SeenChannel[];
}

function Place({ channel, onChosen, children = [] }: PlaceProps) {
  const store = useStore();
  const isHere = store.channelId === channel.id;
  return (
    <li>
      <button
        type="button"
        class={`plain place${channel.unread > 0 ? ' unread' : ''}`}
        aria-current={isHere ? 'page' : undefined}
        onClick={() => {
          void store.show(channel.id);
          onChosen();
        }}
      >
        <span>{titleOf(channel)}</span>
        {channel.unread > 0 && (
          <span class="count">
            {channel.unread}
            <span class="sr-only"> {t('unread')}</span>
          </span>
        )}
      </button>
      {children.length > 0 && (
        <ul class="threads">
          {children.map((thread) => (
            <Place key={thread.id} channel={thread} onChosen={onChosen} />
          ))}
        </ul>
      )}
    </li>
  );
}

/** Limit for moving the clock in one step. */
const steps = () =>
  [
    [t('1 min'), 61_000],
    [t('1 h'), 3_600_000],
    [t('1 day'), 86_400_000],
  ] as const;

/** The acting member, and the time. */
function Me() {
  const { world, address } = useStore();
  if (world === undefined) return null;
  return (
    <div class="me">
      {useMemo(
        () => (
          <Who world={world} address={address} />
        ),
        [world, address],
      )}
      {world.canMoveClock && <Clock />}
    </div>
  );
}

function Who({ world, address }: { world: Snapshot; address: Store['address'] }) {
  const hashOf = (as: string) => `#${new URLSearchParams({ key: address.key, as })}`;
  const others = world.people.filter(({ bot, id }) => !bot && id !== world.me.id);
  return (
    <>
      <label>
        <span class="quiet">{t('You are')}</span>{' '}
        <select
          value={world.me.id}
          onChange={({ currentTarget }) => {
            location.hash = hashOf(currentTarget.value);
          }}
        >
          {[world.me, ...others].map(({ id, name }) => (
            <option key={id} value={id} selected={id === world.me.id}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {others[0] && (
        <a href={hashOf(others[0].id)} target="_blank" rel="noopener">
          {t('Second window, as {name}', { name: others[0].name })}
        </a>
      )}
    </>
  );
}

function Clock() {
  const store = useStillStore();
  const now = useNow();
  return (
    <fieldset class="row clock">
      <legend>
        {t('Clock')} <time>{new Date(now).toLocaleTimeString()}</time>
      </legend>
      {steps().map(([label, ms]) => (
        <button
          key={label}
          type="button"
          aria-label={t('Move the clock by {time}', { time: label })}
          onClick={() => void store.try({ act: 'advance', ms })}
        >
          +{label}
        </button>
      ))}
    </fieldset>
  );
}

/** Messages of one author within this time are grouped. */
const TOGETHER_MS = 7 * 60_000;

function Messages() {
  const store = useStore();
  const history = store.histories.get(store.channelId ?? '');
  const box = useRef<HTMLDivElement>(null);
  const top = useRef(0);
  useLayoutEffect(() => {
    store.isAtEnd = true;
  }, [store.channelId]);
  const toEnd = () => {
    if (store.isAtEnd && box.current) box.current.scrollTop = box.current.scrollHeight;
  };
  useLayoutEffect(toEnd);
  const older = async () => {
    const before = box.current?.scrollHeight ?? 0;
    store.isAtEnd = false;
    await store.older();
    requestAnimationFrame(() => {
      if (box.current) box.current.scrollTop += box.current.scrollHeight - before;
    });
  };
  return (
    <section
      class="messages"
      aria-label={t('Messages')}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
      tabIndex={0}
      ref={box}
      // The height of a picture is only known when it is loaded.
      onLoadCapture={toEnd}
      onScroll={({ currentTarget: at }) => {
        // Only users scroll upwards; when a picture loads, the end moves away by itself.
        if (at.scrollHeight - at.scrollTop - at.clientHeight < 40) store.isAtEnd = true;
        else if (at.scrollTop < top.current) store.isAtEnd = false;
        top.current = at.scrollTop;
      }}
    >
      {history?.more && (
        <button type="button" class="older" onClick={() => void older()}>
          {t('Older messages')}
        </button>
      )}
      {history?.messages.length === 0 && <Empty />}
      {/* A separate list for each channel: new messages are announced to screen readers, an opened channel is not. */}
      {history && (
        <ol key={store.channelId} aria-live="polite">
          {history.messages.map((message, index) => {
            const before = history.messages[index - 1];
            const isFirst =
              before?.author.id !== message.author.id ||
              Date.parse(message.timestamp) - Date.parse(before.timestamp) > TOGETHER_MS;
            const isNew = message.id === store.newFrom;
            return [
              isNew && (
                <li key="new" class="new">
                  <span>{t('New')}</span>
                </li>
              ),
              <Row key={message.id} message={message} isFirst={isFirst || isNew} world={store.world} />,
            ];
          })}
        </ol>
      )}
    </section>
  );
}

/** Re-rendered when the message, the members or the channels change: not with every new message. */
function Row({ message, isFirst, world }: { message: APIMessage; isFirst: boolean; world: Snapshot | undefined }) {
  return useMemo(() => <Message message={message} isFirst={isFirst} />, [message, isFirst, world]);
}

function Empty() {
  const store = useStore();
  return (
    <div class="empty">
      <h2>{t('Nothing here yet')}</h2>
      <p>{store.guild ? t('Say something, type / for the bot’s commands, or try:') : t('Say something.')}</p>
      {store.guild && (
        <p>
          <code>!help</code>
        </p>
      )}
    </div>
  );
}

function Typing() {
  const store = useStore();
  const names = store.typingIn(store.channelId);
  return (
    <p class="typing quiet" aria-live="polite">
      {names.length === 1 && t('{name} is typing …', { name: names.join() })}
      {names.length > 1 && t('{names} are typing …', { names: names.join(', ') })}
    </p>
  );
}

/** Beyond this number, members are found by searching. */
const LISTED_MEMBERS = 100;

function Members({ onChosen }: { onChosen: () => void }) {
  const store = useStore();
  const { guild, world } = store;
  const [wanted, want] = useState('');
  const list = useMemo(() => {
    const all = guild?.members ?? [];
    const part = wanted.trim().toLowerCase();
    const found = all.length > LISTED_MEMBERS ? all.filter(({ name }) => name.toLowerCase().includes(part)) : all;
    const left = found.length - LISTED_MEMBERS;
    return (
      <>
        <ul>
          {found.slice(0, LISTED_MEMBERS).map((member) => (
            <Member key={member.id} member={member} onChosen={onChosen} />
          ))}
        </ul>
        {found.length === 0 && <p class="quiet hint">{t('Nobody is called that.')}</p>}
        {left > 0 && <p class="quiet hint">{t('And {left} more: find them by name.', { left })}</p>}
      </>
    );
  }, [guild, world, wanted]);
  if (guild === undefined) return null;
  return (
    <aside id="members" aria-label={t('Members')}>
      <h2>
        {t('Members')} <span class="quiet">{guild.members.length}</span>
      </h2>
      {guild.members.length > LISTED_MEMBERS && (
        <input
          type="search"
          class="find"
          aria-label={t('Find a member')}
          placeholder={t('Find a member')}
          value={wanted}
          onInput={({ currentTarget }) => want(currentTarget.value)}
        />
      )}
      {list}
    </aside>
  );
}

function Member({ member, onChosen }: { member: SeenGuild['members'][number]; onChosen: () => void }) {
  const store = useStillStore();
  const { id, name, roles } = member;
  const isMe = id === store.world?.me.id;
  const shown = store.guild?.roles.filter((role) => roles.includes(role.id)).map((role) => role.name) ?? [];
  return (
    <li>
      <button
        type="button"
        class="plain member"
        disabled={isMe}
        title={isMe ? t('This is you') : t('Write to {name}', { name })}
        onClick={() => {
          void store.enter({ act: 'openDm', user: id });
          onChosen();
        }}
      >
        <Avatar id={id} name={name} />
        <span>
          <bdi>{name}</bdi>
          {store.isBot(id) && <span class="badge">{t('bot')}</span>}
          {isMe && <span class="quiet"> {t('you')}</span>}
          {shown.length > 0 && <small>{shown.join(', ')}</small>}
        </span>
      </button>
    </li>
  );
}

speak(navigator.language);
const root = document.getElementById('app');
if (root) render(<App />, root);
