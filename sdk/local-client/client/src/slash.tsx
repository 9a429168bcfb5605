import {
  type APIApplicationCommand,
  type APIApplicationCommandBasicOption,
  type APIApplicationCommandOption,
  type APIApplicationCommandOptionChoice,
  ApplicationCommandOptionType as T,
} from 'discord-api-types/v10';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Choice, channelChoices, memberChoices, roleChoices } from './choices';
import { readFile, refusalOf } from './files';
import { type Store, useStore } from './store';
import { useSuggestions } from './suggestions';
import { t } from './texts';

/** A command as it is typed, `/group sub`, with its options. */
export interface Path {
  path: string;
  description: string;
  options: readonly APIApplicationCommandBasicOption[];
}

/** All available commands, with each subcommand separately. */
export function pathsOf(commands: readonly APIApplicationCommand[]): Path[] {
  return commands
    .flatMap(({ name, description, options }) => walk(name, description, options ?? []))
    .sort((a, b) => a.path.localeCompare(b.path));
}

function walk(path: string, description: string, options: readonly APIApplicationCommandOption[]): Path[] {
  const below: Path[] = [];
  const own: APIApplicationCommandBasicOption[] = [];
  for (const option of options) {
    if (option.type === T.Subcommand || option.type === T.SubcommandGroup)
      below.push(...walk(`${path} ${option.name}`, option.description, option.options ?? []));
    else own.push(option);
  }
  return below.length > 0 ? below : [{ path, description, options: own }];
}

type Value = string | number | boolean | { name: string; data: string };

/** The fields of a command, with their hints; Enter sends it, Escape closes it. */
export function SlashForm({ command, onDone }: { command: Path; onDone: () => void }) {
  const store = useStore();
  const { channelId } = store;
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => {
    form.current?.querySelector<HTMLElement>('input:not([type=hidden]), select, [type=submit]')?.focus();
  }, []);
  const send = async (form: HTMLFormElement) => {
    if (channelId === undefined) return;
    const options = await valuesIn(form, command);
    if (await store.try({ act: 'slash', channel: channelId, command: command.path, options })) onDone();
  };
  return (
    <form
      ref={form}
      class="slash"
      aria-label={`/${command.path}`}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onDone();
      }}
      onSubmit={(event) => {
        event.preventDefault();
        void send(event.currentTarget);
      }}
    >
      <p>
        <strong>/{command.path}</strong> <span class="quiet">{command.description}</span>
      </p>
      <div class="options">
        {command.options.map((option) => (
          <Option key={option.name} option={option} command={command} />
        ))}
      </div>
      <div class="row end">
        <button type="button" onClick={onDone}>
          {t('Cancel')}
        </button>
        <button type="submit" class="primary">
          {t('Send')}
        </button>
      </div>
    </form>
  );
}

async function valuesIn(form: HTMLFormElement, command: Path): Promise<Record<string, Value>> {
  const data = new FormData(form);
  const values: Record<string, Value> = {};
  for (const { name, type } of command.options) {
    const given = data.get(name);
    if (given === null || given === '') continue;
    if (given instanceof File) {
      if (given.size > 0) values[name] = await readFile(given);
    } else if (type === T.Integer || type === T.Number)
      values[name] = Number.isNaN(Number(given)) ? given : Number(given);
    else if (type === T.Boolean) values[name] = given === 'true';
    else values[name] = given;
  }
  return values;
}

interface OptionProps {
  option: APIApplicationCommandBasicOption;
  command: Path;
}

function Option({ option, command }: OptionProps) {
  const store = useStore();
  const id = useId();
  const required = option.required === true;
  const choices = fixedChoices(option, store);
  const common = { id, name: option.name, required, 'aria-describedby': `${id}-hint` };
  return (
    <div class="field">
      <label for={id}>
        {option.name}
        {!required && <span class="quiet"> {t('optional')}</span>}
      </label>
      {choices ? (
        <select {...common}>
          {!required && <option value="" />}
          {choices.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      ) : (
        <Typed option={option} command={command} common={common} />
      )}
      <small id={`${id}-hint`}>{option.description}</small>
    </div>
  );
}

interface TypedProps extends OptionProps {
  common: { id: string; name: string; required: boolean };
}

function Typed({ option, command, common }: TypedProps) {
  if (option.type === T.Attachment)
    return (
      <input
        {...common}
        type="file"
        onChange={({ currentTarget }) =>
          currentTarget.setCustomValidity(refusalOf([...(currentTarget.files ?? [])]) ?? '')
        }
      />
    );
  if ('autocomplete' in option && option.autocomplete)
    return <Suggested option={option} command={command} common={common} />;
  const bounds = {
    ...('min_value' in option && option.min_value !== undefined && { min: option.min_value }),
    ...('max_value' in option && option.max_value !== undefined && { max: option.max_value }),
    ...('min_length' in option && option.min_length !== undefined && { minLength: option.min_length }),
    ...('max_length' in option && option.max_length !== undefined && { maxLength: option.max_length }),
  };
  if (option.type === T.Integer || option.type === T.Number)
    return <input {...common} {...bounds} type="number" step={option.type === T.Number ? 'any' : 1} />;
  return <input {...common} {...bounds} type="text" autocomplete="off" />;
}

/** A field with suggestions of the bot: it shows their names and sends their values. */
function Suggested({ option, command, common: { name, ...common } }: TypedProps) {
  const store = useStore();
  const [typed, type] = useState('');
  const [chosen, choose] = useState<string | number>();
  const [found, find] = useState<readonly APIApplicationCommandOptionChoice[]>([]);
  const asked = useRef(0);
  const suggestions = useSuggestions(
    found.map((choice) => ({
      label: choice.name,
      hint: '',
      choose: () => {
        type(choice.name);
        choose(choice.value);
        suggestions.end();
      },
    })),
    -1,
  );
  const ask = async ({ form, value }: HTMLInputElement) => {
    const { channelId } = store;
    if (!form || channelId === undefined) return;
    asked.current += 1;
    const own = asked.current;
    const { [name]: _, ...options } = await valuesIn(form, command);
    const answer = await store
      .act({ act: 'autocomplete', channel: channelId, command: command.path, focused: name, typed: value, options })
      .catch(() => undefined);
    if (own === asked.current) find(answer?.choices ?? []);
  };
  return (
    <>
      <input
        {...common}
        {...suggestions.field}
        role="combobox"
        aria-expanded={suggestions.isShown}
        inputMode={option.type === T.String ? 'text' : 'decimal'}
        autocomplete="off"
        value={typed}
        onFocus={({ currentTarget }) => {
          suggestions.start();
          void ask(currentTarget);
        }}
        onBlur={suggestions.end}
        onInput={({ currentTarget }) => {
          type(currentTarget.value);
          choose(undefined);
          suggestions.start();
          void ask(currentTarget);
        }}
        onKeyDown={suggestions.onKey}
      />
      <input type="hidden" name={name} value={chosen ?? typed} />
      {suggestions.list}
    </>
  );
}

function fixedChoices(option: APIApplicationCommandBasicOption, store: Store): readonly Choice[] | undefined {
  switch (option.type) {
    case T.Boolean:
      return [
        { value: 'true', label: 'true' },
        { value: 'false', label: 'false' },
      ];
    case T.User:
      return memberChoices(store);
    case T.Role:
      return roleChoices(store);
    case T.Mentionable:
      return [...memberChoices(store), ...roleChoices(store)];
    case T.Channel:
      return channelChoices(store, option.channel_types);
    default:
      if (!('choices' in option) || !option.choices?.length) return undefined;
      return option.choices.map(({ name, value }) => ({ label: name, value: String(value) }));
  }
}
