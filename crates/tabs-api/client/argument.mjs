// Arguments against their signature, at once and with the browser's own sentences: a call with wrong arguments throws.

/**
 * Finds which parameter each argument is and checks them.
 *
 * Returns `{ params, callback }`: one entry a parameter, `null` for what was left out. Throws a TypeError otherwise.
 */
export function checkArguments(operation, given) {
  const refuse = (reason) => {
    throw new TypeError(`Error in invocation of ${operation.name}(${operation.signature}): ${reason}`);
  };
  const matched = operation.parameters.map(() => undefined);
  const found = assign(operation, given, 0, matched);
  if (!found) refuse('No matching signature.');
  operation.parameters.forEach(({ name, schema }, at) => {
    const value = matched[at];
    if (value === undefined) return;
    if (schema.type === 'any' && typeof value === 'function') refuse('Could not serialize message.');
    const fault = faultOf(schema, value);
    if (fault) refuse(`Error at parameter '${name}': ${fault}`);
  });
  const params = operation.parameters.map(({ schema }, at) => {
    const isUndefinedMessage = schema.type === 'any' && matched[at] === undefined;
    return isUndefinedMessage ? { $js: 'undefined' } : matched[at] ?? null;
  });
  return { params, callback: found.callback };
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
      if (!isAbsent(schema.minimum) && value < schema.minimum) return `Value must be at least ${schema.minimum}.`;
      if (!isAbsent(schema.maximum) && value > schema.maximum) return `Value must be at most ${schema.maximum}.`;
      return undefined;
    case 'number':
      return Number.isFinite(value) ? undefined : 'Value must not be NaN or Infinity.';
    case 'string':
      if (!schema.enum || schema.enum.includes(value)) return undefined;
      return `Value must be one of ${schema.enum.join(', ')}.`;
    case 'array':
      return faultOfArray(schema, value);
    case 'object':
      return faultOfObject(schema, value);
    default:
      return undefined;
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

function faultOfObject({ properties }, value) {
  for (const [key, member] of Object.entries(value)) {
    if (!Object.hasOwn(properties, key)) return `Unexpected property: '${key}'.`;
    const fault = isAbsent(member) ? undefined : faultOf(properties[key].schema, member);
    if (fault) return `Error at property '${key}': ${fault}`;
  }
  const missing = Object.keys(properties).find((key) => properties[key].required && isAbsent(value[key]));
  return missing && `Missing required property '${missing}'.`;
}
