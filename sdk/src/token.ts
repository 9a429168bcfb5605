/** Names a service of type `T`. Two tokens with the same `id` are the same token, so that separate packages may define it. */
export interface Token<T> {
  readonly kind: 'token';
  readonly id: string;
  /** Carries the type only; never set. */
  readonly service?: T;
}

/** A token of an optional service: it is injected as `T | undefined`. */
export interface OptionalToken<T> {
  readonly kind: 'optional';
  readonly token: Token<T>;
}

export type Injection = Token<unknown> | OptionalToken<unknown>;
export type Injections = Readonly<Record<string, Injection>>;

/** The type of `services` for a plugin that declared `inject: I`. */
export type Services<I extends Injections> = {
  readonly [K in keyof I]: I[K] extends Token<infer T>
    ? T
    : I[K] extends OptionalToken<infer T>
      ? T | undefined
      : never;
};

/**
 * Defines a token by which one plugin provides a service and others inject it.
 * @param id unique, dotted by convention: `weather.forecast`
 */
export function defineToken<T>(id: string): Token<T> {
  return { kind: 'token', id };
}

/** Marks a dependency as optional: the plugin starts without the service, and restarts when the service appears or disappears. */
export function optional<T>(token: Token<T>): OptionalToken<T> {
  return { kind: 'optional', token };
}
