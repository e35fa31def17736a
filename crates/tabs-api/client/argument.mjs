// Arguments against their signature, at once and with the browser's own sentences: a call with wrong arguments throws.

import { mark, serializable } from './message.mjs';

/**
 * Finds which parameter each argument is and checks them. A question without a callback is one only where promises are given.
 *
 * Returns `{ params, callback }`: one entry a parameter as frames carry it, `null` for what was left out. Throws a TypeError otherwise.
 */
export function checkArguments(operation, given, givesPromise = true) {
  const needsCallback = Boolean(operation.callbackSignature) && !givesPromise;
  const signature = needsCallback ? operation.callbackSignature : operation.signature;
  const refuse = (reason) => {
    throw new TypeError(`Error in invocation of ${operation.name}(${signature}): ${reason}`);
  };
  const matched = operation.parameters.map(() => undefined);
  const found = assign(operation, given, 0, matched);
  if (!found || (needsCallback && !found.callback)) refuse('No matching signature.');
  const params = operation.parameters.map(({ name, schema }, at) => {
    const value = matched[at];
    if (schema.type === 'any') return message(value, refuse);
    if (value === undefined) return null;
    const fault = faultOf(schema, value);
    if (fault) refuse(`Error at parameter '${name}': ${fault}`);
    return carried(schema, value);
  });
  return { params, callback: found.callback };
}

function message(value, refuse) {
  if (value === undefined) return mark('undefined');
  try {
    return serializable(value);
  } catch (error) {
    return refuse(error.message);
  }
}

/** A value that fits its schema, as frames carry it. */
function carried(schema, value) {
  if (isAbsent(value)) return value;
  switch (schema.type) {
    case 'any':
      return serializable(value);
    case 'function':
      return mark('function');
    case 'array':
      return value.map((item) => carried(schema.items, item));
    case 'object': {
      const members = Object.entries(value);
      return Object.fromEntries(members.map(([key, member]) => [key, carried(schema.properties[key].schema, member)]));
    }
    default:
      return value;
  }
}

const isAbsent = (value) => value === undefined || value === null;

/** Gives arguments to parameters from `from` on; an optional parameter that one does not fit is left out. */
function assign(operation, given, from, matched) {
  const parameter = operation.parameters[from];
  if (!parameter) {
    if (given.length === 0) return {};
    const [last] = given;
    const isCallback = operation.callback && given.length === 1 && (isAbsent(last) || typeof last === 'function');
    return isCallback ? { callback: last ?? undefined } : undefined;
  }
  if (given.length > 0) {
    const [first, ...rest] = given;
    const leftOut = isAbsent(first) && parameter.optional;
    const fits = leftOut || (fitsType(parameter.schema, first) && (!isAbsent(first) || parameter.schema.type === 'any'));
    if (fits) {
      matched[from] = leftOut ? undefined : first;
      const found = assign(operation, rest, from + 1, matched);
      if (found) return found;
    }
  }
  if (!parameter.optional) return undefined;
  matched[from] = undefined;
  return assign(operation, given, from + 1, matched);
}

const isInteger = (value) => Number.isInteger(value) && value >= -(2 ** 31) && value < 2 ** 31;

function typeName(value) {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

/** What a signature calls a schema. */
function schemaName(schema) {
  if (schema.name) return schema.name;
  if (schema.oneOf) return `[${schema.oneOf.map(schemaName).join('|')}]`;
  return schema.type;
}

function fitsType(schema, value) {
  if (schema.oneOf) return schema.oneOf.some((choice) => fitsType(choice, value));
  switch (schema.type) {
    case 'any':
      return true;
    case 'integer':
      return isInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value);
    default:
      return typeof value === schema.type;
  }
}

/** The first fault of a value; undefined if it is right. */
function faultOf(schema, value) {
  if (!fitsType(schema, value)) return `Invalid type: expected ${schemaName(schema)}, found ${typeName(value)}.`;
  if (schema.oneOf) {
    const isOne = schema.oneOf.some((choice) => fitsType(choice, value) && !faultOf(choice, value));
    return isOne ? undefined : 'Value did not match any choice.';
  }
  switch (schema.type) {
    case 'integer':
      return faultOfBounds(schema, value);
    case 'number':
      return Number.isFinite(value) ? faultOfBounds(schema, value) : 'Value must not be NaN or Infinity.';
    case 'string':
      if (!schema.enum || schema.enum.includes(value)) return undefined;
      return `Value must be one of ${schema.enum.join(', ')}.`;
    case 'any':
      return isSerializable(value) ? undefined : 'Value is unserializable.';
    case 'array':
      return faultOfArray(schema, value);
    case 'object':
      return faultOfObject(schema, value);
    default:
      return undefined;
  }
}

function faultOfBounds({ minimum, maximum }, value) {
  if (!isAbsent(minimum) && value < minimum) return `Value must be at least ${minimum}.`;
  if (!isAbsent(maximum) && value > maximum) return `Value must be at most ${maximum}.`;
  return undefined;
}

/** What is within another value is left out instead, where JSON has not what it is. */
function isSerializable(value) {
  if (value === undefined || (typeof value === 'number' && !Number.isFinite(value))) return false;
  try {
    serializable(value);
    return true;
  } catch {
    return false;
  }
}

function faultOfArray({ items, minItems }, value) {
  if (value.length < minItems) return `Array must have at least ${minItems} items; found ${value.length}.`;
  for (const [at, item] of value.entries()) {
    const fault = faultOf(items, item);
    if (fault) return `Error at index ${at}: ${fault}`;
  }
  return undefined;
}

/** The keys in the caller's order, null among them where it must have a value, then what is missing. */
function faultOfObject({ properties }, value) {
  const missing = (key) => `Missing required property '${key}'.`;
  for (const [key, member] of Object.entries(value)) {
    if (!Object.hasOwn(properties, key)) return `Unexpected property: '${key}'.`;
    const { schema, required } = properties[key];
    if (isAbsent(member)) {
      if (required) return missing(key);
      continue;
    }
    const fault = faultOf(schema, member);
    if (fault) return `Error at property '${key}': ${fault}`;
  }
  const absent = Object.keys(properties).find((key) => properties[key].required && isAbsent(value[key]));
  return absent && missing(absent);
}
