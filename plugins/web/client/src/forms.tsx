import type { WebBlock, WebField } from '@cinnabar/sdk';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Choice, loadChoices, Refusal, type Result } from './api.js';
import { ActButton, Blocks, finish, sentenceFor } from './blocks.js';
import { usePage } from './context.js';
import { addressOf, navigate } from './router.js';
import { useSelection } from './selection.js';
import { t } from './texts.js';
import { Text } from './values.js';

type FormBlock = Extract<WebBlock, { kind: 'form' }>;
type SearchBlock = Extract<WebBlock, { kind: 'search' }>;
type Given = string | number | boolean | readonly string[] | undefined;

const given = (fields: readonly WebField[]): Record<string, Given> =>
  Object.fromEntries(
    fields.map(({ name, value, control }) => [name, value ?? (control.kind === 'switch' ? false : undefined)]),
  );
const isSame = (one: Given, other: Given): boolean => JSON.stringify(one) === JSON.stringify(other);

interface Problem {
  readonly sentence: string;
  /** The field whose value was refused. */
  readonly field: string | undefined;
}

/** In a form with one field the refusal concerns that field, whatever name the act uses. */
function refusedField(error: unknown, fields: readonly WebField[]): string | undefined {
  const [first, ...others] = fields;
  if (!(error instanceof Refusal) || error.status === 0 || first === undefined) return undefined;
  return others.length === 0 ? first.name : fields.find(({ name }) => name === error.field)?.name;
}

/** Typed text stays until it is saved, even if the page changes. */
export function Form({ form }: { readonly form: FormBlock }) {
  const { act, say, place } = usePage();
  const [typed, setTyped] = useState<Record<string, Given>>({});
  const [problem, setProblem] = useState<Problem>();
  const [result, setResult] = useState<Result>();
  const [isBusy, setBusy] = useState(false);
  const dialog = useRef<HTMLDialogElement>(null);
  const own = useRef<HTMLFormElement>(null);
  const problemId = useId();
  useLayoutEffect(() => {
    if (problem?.field !== undefined) own.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [problem]);
  const before = given(form.fields);
  const values = { ...before, ...typed };
  const isChanged = form.fields.some(({ name }) => !isSame(values[name], before[name]));

  const send = async (all: Readonly<Record<string, Given>>) => {
    dialog.current?.close();
    setBusy(true);
    setProblem(undefined);
    try {
      const filled = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined && value !== ''));
      const answer = await act(form.act, { ...form.input, ...filled });
      setTyped({});
      setResult(answer.blocks === undefined ? undefined : answer);
      finish(answer, { act, say, place });
    } catch (error) {
      setProblem({ sentence: sentenceFor(error), field: refusedField(error, form.fields) });
    } finally {
      setBusy(false);
    }
  };
  const change = (name: string, value: Given, isAtOnce: boolean) => {
    const next = { ...typed, [name]: value };
    setTyped(next);
    if (form.compact === true && isAtOnce && form.question === undefined) void send({ ...values, [name]: value });
  };
  const submit = (event: Event) => {
    event.preventDefault();
    if (form.question === undefined) void send(values);
    else dialog.current?.showModal();
  };
  const isOneLine = form.compact === true;
  return (
    <form ref={own} class={isOneLine ? 'setting' : 'card form'} onSubmit={submit}>
      {form.title === undefined ? null : <h2>{form.title}</h2>}
      {form.text === undefined ? null : (
        <p class="text">
          <Text text={form.text} />
        </p>
      )}
      {form.fields.map((field) => (
        <Field
          key={field.name}
          field={field}
          value={values[field.name]}
          problemId={problem?.field === field.name ? problemId : undefined}
          onChange={(value, isAtOnce) => change(field.name, value, isAtOnce)}
        />
      ))}
      {problem === undefined ? null : (
        <p class="problem" role="alert" id={problemId}>
          <Text text={problem.sentence} />
        </p>
      )}
      <div class="buttons">
        {isOneLine && !isChanged ? null : (
          <button type="submit" class="primary" disabled={isBusy}>
            {form.submit}
          </button>
        )}
        {(form.buttons ?? []).map((button) => (
          <ActButton key={button.label} button={button} />
        ))}
      </div>
      {form.question === undefined ? null : (
        <dialog ref={dialog} aria-label={form.submit}>
          <p>
            <Text text={form.question} />
          </p>
          <div class="buttons">
            <button type="button" onClick={() => dialog.current?.close()}>
              {t('Cancel')}
            </button>
            <button type="button" class="primary" onClick={() => send(values)}>
              {form.submit}
            </button>
          </div>
        </dialog>
      )}
      {result?.blocks === undefined ? null : (
        <div class="result">
          <Blocks blocks={result.blocks} />
        </div>
      )}
    </form>
  );
}

/** A search puts its terms into the page's own address. */
export function SearchForm({ search }: { readonly search: SearchBlock }) {
  const { page, place } = usePage();
  const [typed, setTyped] = useState<Record<string, Given>>({});
  const values = { ...given(search.fields), ...typed };
  const submit = (event: Event) => {
    event.preventDefault();
    const own = search.fields.flatMap(({ name }) => {
      const value = values[name];
      return value === undefined || value === '' || value === false ? [] : [[name, String(value)]];
    });
    navigate(addressOf({ guildId: place.guildId, page, query: { ...search.query, ...Object.fromEntries(own) } }));
  };
  return (
    <search>
      <form class="search" onSubmit={submit}>
        {search.fields.map((field) => (
          <Field
            key={field.name}
            field={field}
            value={values[field.name]}
            problemId={undefined}
            onChange={(value) => setTyped({ ...typed, [field.name]: value })}
          />
        ))}
        <button type="submit">{search.submit}</button>
      </form>
    </search>
  );
}

interface FieldParts {
  readonly field: WebField;
  readonly value: Given;
  /** The id of the element that explains why the value was refused. */
  readonly problemId: string | undefined;
  /** @param isAtOnce the input is complete */
  onChange(value: Given, isAtOnce: boolean): void;
}

function Field(parts: FieldParts) {
  const { field } = parts;
  const id = useId();
  const hint = field.hint === undefined ? undefined : `${id}-hint`;
  return (
    <div class={field.control.kind === 'switch' ? 'field is-switch' : 'field'}>
      <label for={id}>
        {field.label}
        {field.optional === true && field.control.kind !== 'switch' ? (
          <span class="visually-hidden"> ({t('Optional')})</span>
        ) : null}
      </label>
      {field.hint === undefined ? null : (
        <small id={hint}>
          <Text text={field.hint} />
        </small>
      )}
      <Control {...parts} id={id} hint={hint} />
    </div>
  );
}

function Control({
  field: { name, control, optional },
  value,
  problemId,
  onChange,
  id,
  hint,
}: FieldParts & { readonly id: string; readonly hint: string | undefined }) {
  const described = {
    'aria-describedby': [hint, problemId].filter((one) => one !== undefined).join(' ') || undefined,
    'aria-invalid': problemId === undefined ? undefined : true,
  } as const;
  const common = { id, name, ...described };
  const isRequired = optional !== true;
  switch (control.kind) {
    case 'switch':
      return (
        <input
          {...common}
          type="checkbox"
          role="switch"
          aria-checked={value === true}
          checked={value === true}
          onChange={({ currentTarget }) => onChange(currentTarget.checked, true)}
        />
      );
    case 'number':
      return (
        <input
          {...common}
          type="number"
          required={isRequired}
          min={control.min}
          max={control.max}
          step={control.whole === true ? 1 : 'any'}
          value={value === undefined ? '' : Number(value)}
          onInput={({ currentTarget }) =>
            onChange(currentTarget.value === '' ? undefined : currentTarget.valueAsNumber, false)
          }
        />
      );
    case 'choice':
      return (
        <select
          {...common}
          required={isRequired}
          value={String(value ?? '')}
          onChange={({ currentTarget }) => onChange(currentTarget.value, true)}
        >
          {value === undefined || value === '' ? <option value="">{control.none ?? t('not set')}</option> : null}
          {control.of.map((one) => (
            <option key={one.value} value={one.value}>
              {one.text}
            </option>
          ))}
        </select>
      );
    case 'text': {
      const text = value === undefined ? '' : String(value);
      if (control.lines !== undefined)
        return (
          <textarea
            {...common}
            required={isRequired}
            rows={control.lines}
            placeholder={control.placeholder}
            value={text}
            onInput={({ currentTarget }) => onChange(currentTarget.value, false)}
          />
        );
      const written = {
        ...common,
        required: isRequired,
        placeholder: control.placeholder,
        value: text,
        onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) =>
          onChange(currentTarget.value, false),
      };
      if (control.secret === true) return <input {...written} type="password" autocomplete="new-password" />;
      if (control.suggestions === undefined) return <input {...written} type="text" autocomplete="off" />;
      return (
        <>
          <input {...written} type="text" autocomplete="off" list={`${id}-list`} />
          <datalist id={`${id}-list`}>
            {control.suggestions.map((one) => (
              <option key={one} value={one} />
            ))}
          </datalist>
        </>
      );
    }
    case 'channel':
    case 'role':
    case 'user':
      return (
        <Picker
          id={id}
          kind={control.kind}
          many={control.many === true}
          value={value}
          described={described}
          onChange={(chosen) => onChange(chosen, true)}
        />
      );
  }
}

interface PickerParts {
  readonly id: string;
  readonly kind: 'channel' | 'role' | 'user';
  readonly many: boolean;
  readonly value: Given;
  readonly described: { readonly 'aria-describedby': string | undefined; readonly 'aria-invalid': true | undefined };
  onChange(value: Given): void;
}

const SEARCH_MS = 150;
const SIGNS = { channel: '#', role: '@', user: '@' } as const;

/** Chooses channels, roles or members by name. https://www.w3.org/WAI/ARIA/apg/patterns/combobox/ */
function Picker({ id, kind, many, value, described, onChange }: PickerParts) {
  const { place, names } = usePage();
  const [search, setSearch] = useState('');
  const [isOpen, setOpen] = useState(false);
  const [found, setFound] = useState<{ readonly search: string; readonly choices: readonly Choice[] }>();
  const [known, setKnown] = useState<Readonly<Record<string, string>>>({});
  const choices = isOpen ? (found?.choices ?? []) : [];
  const isComplete = isOpen && found?.search === search;
  const chosen = Array.isArray(value) ? value : typeof value === 'string' && value !== '' ? [value] : [];
  const selection = useSelection(choices, isComplete, (choice) => choose(choice));
  const { at } = selection;
  const nameOf = (one: string) =>
    known[one] ??
    (kind === 'channel' ? names.channels[one] : kind === 'role' ? names.roles[one]?.name : names.users[one]) ??
    one;

  useEffect(() => {
    if (!isOpen || place.guildId === null) return undefined;
    const { guildId } = place;
    let isOver = false;
    const show = (results: readonly Choice[]) => {
      if (isOver) return;
      setFound({ search, choices: results });
      selection.select(0);
    };
    const timer = setTimeout(() => {
      loadChoices(guildId, kind, search).then(
        (loaded) => show(loaded.choices),
        () => show([]),
      );
    }, SEARCH_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [search, isOpen]);
  const open = () => {
    setOpen(true);
    selection.cancel();
  };
  const close = () => {
    setOpen(false);
    setFound(undefined);
    selection.cancel();
  };
  const choose = (choice: Choice) => {
    setKnown({ ...known, [choice.id]: choice.name });
    close();
    setSearch('');
    onChange(many ? [...new Set([...chosen, choice.id])] : choice.id);
  };
  const remove = (one: string) => onChange(many ? chosen.filter((other) => other !== one) : '');
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') close();
    else if (event.key === 'Enter' && isOpen) {
      event.preventDefault();
      selection.enter();
    } else if (selection.onArrow(event) && !isOpen) open();
  };
  return (
    <div
      class="picker"
      onFocusOut={({ currentTarget, relatedTarget }) =>
        relatedTarget instanceof Node && currentTarget.contains(relatedTarget) ? undefined : close()
      }
    >
      {chosen.map((one) => (
        <span class="chip" key={one}>
          {SIGNS[kind]}
          {nameOf(one)}
          <button type="button" aria-label={t('Remove {name}', { name: nameOf(one) })} onClick={() => remove(one)}>
            ×
          </button>
        </span>
      ))}
      <input
        id={id}
        type="text"
        role="combobox"
        autocomplete="off"
        aria-expanded={isOpen}
        aria-controls={`${id}-choices`}
        {...described}
        aria-activedescendant={choices.length > 0 ? `${id}-${at}` : undefined}
        placeholder={t('Search …')}
        value={search}
        onFocus={open}
        onInput={({ currentTarget }) => {
          setSearch(currentTarget.value);
          open();
        }}
        onKeyDown={onKeyDown}
      />
      <div
        id={`${id}-choices`}
        class="choices"
        role="listbox"
        tabIndex={-1}
        aria-label={t('Search …')}
        hidden={choices.length === 0}
      >
        {choices.map((choice, index) => (
          <div
            key={choice.id}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onMouseDown={(event) => {
              event.preventDefault();
              choose(choice);
            }}
          >
            {SIGNS[kind]}
            {choice.name} {choice.hint === undefined ? null : <small>{choice.hint}</small>}
          </div>
        ))}
      </div>
    </div>
  );
}
