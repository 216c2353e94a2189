// The walker: what Chaperone knows of a document, from inside an isolated world of its frame.
//
// It reads the document into lines, names elements by numbers (refs), and finds where to press. It changes nothing
// in the page by reading. One world sees its frame and every descendant frame of the same origin; other frames
// have worlds of their own, and the host puts their lines together. The page cannot see or alter this world.
(() => {
  'use strict'
  if (globalThis.__chaperone) return

  // Flags of a line; the host ranks by them. Keep in step with line.go.
  const FOCUSED = 1, DIALOG = 2, INVIEW = 4, INTERACTIVE = 8, HEADING = 16, TEXT = 32, FRAME = 64, ROW = 128

  const ids = new WeakMap()     // element -> ref
  const table = new Map()       // ref -> {el, doc, kind, was}
  const closed = new WeakMap()  // host -> closed shadow root, found by the host through CDP
  const asked = new WeakSet()   // hosts that the host has already looked into
  const secret = new WeakSet()  // fields that are, or ever were, passwords
  const moved = new WeakMap()   // element -> when its style or class changed last
  let range = [1, Infinity, 0, 0] // numbers this world may hand out: from, to, then from, to
  let last = []                 // elements of the lines of the latest search

  // ---- refs ----

  const refOf = el => {
    let id = ids.get(el)
    if (id) return id
    if (range[0] >= range[1]) range = [range[2], range[3], 0, 0]
    if (range[0] >= range[1]) return 0
    id = range[0]++
    ids.set(el, id)
    table.set(id, { el: new WeakRef(el), doc: new WeakRef(el.ownerDocument), kind: kindOf(el), was: '' })
    return id
  }
  const kindOf = el => el.localName + '|' + roleOf(el)

  // look answers with the element of a ref, or says why it must not be used.
  const look = id => {
    const e = table.get(id)
    if (!e) return { no: `there is no [${id}]` }
    const el = e.el.deref()
    const was = e.was ? ' was ' + e.was : ''
    if (!el || !el.isConnected || !el.ownerDocument.defaultView) return { no: `[${id}]${was ? was + ';' : ''} it is gone` }
    if (e.doc.deref() !== el.ownerDocument) return { no: `[${id}]${was ? was + ';' : ''} it moved to another document` }
    if (kindOf(el) !== e.kind) return { no: `[${id}]${was ? was + ';' : ''} it is something else now` }
    return { el }
  }
  const short = (s, n) => s.length > n ? s.slice(0, n - 1) + '…' : s
  const whatIs = el => {
    const name = nameOf(el, roleOf(el)).name || el.getAttribute('placeholder') || ''
    return (roleOf(el) || el.localName) + (name ? ` “${short(name, 60)}”` : '')
  }
  const label = el => `[${refOf(el)}] ${whatIs(el)}`

  // ---- words of the platform ----

  const HEADINGS = /^h[1-6]$/
  const SKIP = new Set(['script', 'style', 'template', 'noscript', 'head', 'meta', 'link', 'title', 'datalist', 'base',
    'param', 'source', 'track', 'colgroup', 'col', 'map'])
  const INPUTS = { button: 'button', submit: 'button', reset: 'button', image: 'button', checkbox: 'checkbox', radio: 'radio',
    range: 'slider', number: 'spinbutton', search: 'searchbox', file: 'file', color: 'color', date: 'date', time: 'time',
    month: 'month', week: 'week', 'datetime-local': 'datetime' }
  const ROLES = { button: 'button', textarea: 'textbox', nav: 'navigation', main: 'main', aside: 'complementary',
    article: 'article', table: 'table', tr: 'row', td: 'cell', th: 'columnheader', dialog: 'dialog', fieldset: 'group',
    details: 'group', progress: 'progressbar', meter: 'meter', output: 'status', iframe: 'iframe', frame: 'iframe',
    video: 'video', audio: 'audio', svg: 'img', option: 'option', search: 'search', ul: 'list', ol: 'list', li: 'listitem',
    hr: 'separator', summary: 'summary', canvas: 'canvas' }
  const ACTIVE = new Set(['button', 'link', 'checkbox', 'radio', 'tab', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'option',
    'switch', 'slider', 'spinbutton', 'textbox', 'searchbox', 'combobox', 'treeitem', 'file', 'color', 'date', 'time', 'month',
    'week', 'datetime', 'summary', 'listbox'])
  // Roles whose name is their content.
  const CONTENT = new Set(['button', 'link', 'checkbox', 'radio', 'tab', 'menuitem', 'menuitemcheckbox', 'menuitemradio',
    'option', 'switch', 'treeitem', 'heading', 'tooltip', 'summary', 'clickable'])
  const CONTAINERS = new Set(['navigation', 'main', 'banner', 'contentinfo', 'complementary', 'search', 'region', 'form',
    'dialog', 'alertdialog', 'alert', 'status', 'group', 'radiogroup', 'tablist', 'tabpanel', 'menu', 'menubar', 'toolbar',
    'tree', 'table', 'grid', 'treegrid', 'article', 'listbox', 'feed', 'log', 'timer', 'marquee', 'application'])
  const EDITS = new Set(['textbox', 'searchbox', 'spinbutton', 'combobox', 'slider', 'color', 'date', 'time', 'month', 'week', 'datetime'])
  // What makes an element a container rather than a name.
  const INNER = 'a[href],button,input,select,textarea,summary,[role],[tabindex],[onclick],iframe,h1,h2,h3,h4,h5,h6,[contenteditable]'

  const roleOf = el => {
    const given = el.getAttribute('role')
    if (given) {
      const r = given.trim().split(/\s+/)[0].toLowerCase()
      if (r && r !== 'presentation' && r !== 'none' && r !== 'generic') return r === 'image' ? 'img' : r
      if (r !== 'generic' && !el.matches('a[href],button,input,select,textarea,summary')) return ''
    }
    const n = el.localName
    switch (n) {
      case 'div': case 'span': case 'p': return el.isContentEditable && editHost(el) ? 'textbox' : ''
      case 'a': case 'area': return el.hasAttribute('href') ? 'link' : ''
      case 'input': {
        const t = el.type
        return t === 'hidden' ? '' : INPUTS[t] || (el.hasAttribute('list') ? 'combobox' : 'textbox')
      }
      case 'select': return el.multiple || el.size > 1 ? 'listbox' : 'combobox'
      case 'img': return el.getAttribute('alt') === '' ? '' : 'img'
      case 'header': return el.closest('article,aside,main,nav,section') ? '' : 'banner'
      case 'footer': return el.closest('article,aside,main,nav,section') ? '' : 'contentinfo'
      case 'section': return named(el) ? 'region' : ''
      case 'form': return named(el) ? 'form' : ''
    }
    if (HEADINGS.test(n)) return 'heading'
    const r = ROLES[n]
    if (r) return r
    return el.isContentEditable && editHost(el) ? 'textbox' : ''
  }
  const named = el => el.hasAttribute('aria-label') || el.hasAttribute('aria-labelledby') || el.hasAttribute('title')
  const editHost = el => {
    const p = el.parentElement
    return !(p && p.isContentEditable) && el.localName !== 'body'
  }
  let anyClosed = false
  const rootOf = el => el.shadowRoot || (anyClosed && closed.get(el)) || null
  const upOf = n => n.assignedSlot || n.parentNode || n.host || null
  const shown = el => el.checkVisibility() || (el.isConnected && styleOf(el).display === 'contents')
  const styleOf = el => getComputedStyle(el)
  const LOOSE = /^\s|\s\s|[^\S ]|\s$/
  const squeeze = s => LOOSE.test(s) ? s.replace(/\s+/g, ' ').trim() : s

  // ---- names ----

  // textOf gives the words of a subtree as a reader sees them. hidden lets hidden parts in (aria-labelledby).
  const textOf = (node, hidden, not, deep = 0) => {
    if (node.nodeType === 3) return node.data
    if (node.nodeType !== 1 && node.nodeType !== 11) return ''
    if (deep > 100) return ''
    if (node.nodeType === 1) {
      if (node === not || SKIP.has(node.localName)) return ''
      if (!hidden && (node.getAttribute('aria-hidden') === 'true' || !shown(node))) return ''
      if (deep > 0) {
        const l = node.getAttribute('aria-label')
        if (l && l.trim()) return ' ' + l + ' '
      }
      switch (node.localName) {
        case 'img': return ' ' + (node.getAttribute('alt') || '') + ' '
        case 'svg': { const t = node.querySelector('title'); return t ? ' ' + t.textContent + ' ' : '' }
        case 'input': case 'textarea': return ''
        case 'select': return ''
        case 'br': return ' '
      }
    }
    const root = node.nodeType === 1 ? rootOf(node) : null
    let kids = root ? root.childNodes : node.childNodes
    if (node.localName === 'slot') { const a = node.assignedNodes(); if (a.length) kids = a }
    if (!root && kids.length === 1 && kids[0].nodeType === 3) return spaced(node, kids[0].data)
    let s = ''
    for (const k of kids) {
      s += textOf(k, hidden, not, deep + 1)
      if (s.length > 2000) break
    }
    return spaced(node, s)
  }
  const INLINE = new Set(['a', 'abbr', 'b', 'bdi', 'bdo', 'cite', 'code', 'data', 'del', 'dfn', 'em', 'font', 'i', 'ins', 'kbd', 'label',
    'mark', 'q', 's', 'samp', 'small', 'span', 'strong', 'sub', 'sup', 'time', 'tt', 'u', 'var', 'wbr', 'slot', 'ruby', 'rt', 'rp', 'output'])
  const spaced = (node, s) => node.nodeType === 1 && !INLINE.has(node.localName) ? ' ' + s + ' ' : s

  // nameOf gives the accessible name and where it came from.
  const nameOf = (el, role) => {
    const by = el.getAttribute('aria-labelledby')
    if (by) {
      const root = el.getRootNode(), parts = []
      for (const id of by.trim().split(/\s+/)) {
        const t = root.getElementById && root.getElementById(id)
        if (t) parts.push(t.getAttribute('aria-label') || textOf(t, true, null))
      }
      const s = squeeze(parts.join(' '))
      if (s) return { name: s, from: 'aria' }
    }
    const al = el.getAttribute('aria-label')
    if (al && al.trim()) return { name: squeeze(al), from: 'aria' }
    switch (el.localName) {
      case 'input': case 'select': case 'textarea': case 'meter': case 'progress': case 'output': {
        const t = el.type
        if (t === 'submit' || t === 'reset' || t === 'button') {
          const v = squeeze(el.value) || (t === 'submit' ? 'Submit' : t === 'reset' ? 'Reset' : '')
          if (v) return { name: v, from: 'value' }
        }
        if (t === 'image') { const a = el.getAttribute('alt'); if (a) return { name: squeeze(a), from: 'alt' } }
        const ls = el.labels
        if (ls && ls.length) {
          let s = ''
          for (const l of ls) s += ' ' + textOf(l, true, el)
          s = squeeze(s)
          if (s) return { name: s, from: 'label' }
        }
        break
      }
      case 'img': { const a = el.getAttribute('alt'); if (a && a.trim()) return { name: squeeze(a), from: 'alt' }; break }
      case 'svg': { const t = el.querySelector('title'); if (t) return { name: squeeze(t.textContent), from: 'content' }; break }
      case 'fieldset': { const l = el.querySelector(':scope>legend'); if (l) return { name: squeeze(textOf(l, false, null)), from: 'child' }; break }
      case 'table': { const c = el.caption; if (c) return { name: squeeze(textOf(c, false, null)), from: 'child' }; break }
      case 'details': break
    }
    if (CONTENT.has(role)) {
      const s = squeeze(textOf(el, false, null))
      if (s) return { name: s, from: 'content' }
    }
    const t = el.getAttribute('title')
    if (t && t.trim()) return { name: squeeze(t), from: 'title' }
    const p = el.getAttribute('placeholder') || el.getAttribute('aria-placeholder')
    if (p && p.trim()) return { name: squeeze(p), from: 'placeholder' }
    return { name: '', from: '' }
  }

  // ---- fields ----

  const isSecret = el => {
    if (el.localName !== 'input') return false
    if (el.type === 'password') { secret.add(el); return true }
    return secret.has(el) || /\b(current|new)-password\b/.test(el.autocomplete)
  }
  const valueOf = (el, role) => {
    switch (el.localName) {
      case 'input':
        if (role === 'checkbox' || role === 'radio' || role === 'button') return ''
        if (isSecret(el)) return el.value ? '••••••••' : ''
        if (role === 'file') return Array.from(el.files || [], f => f.name).join(', ')
        return el.value
      case 'textarea': return el.value
      case 'select': return Array.from(el.selectedOptions, o => squeeze(o.label)).join(', ')
      case 'progress': case 'meter': return el.hasAttribute('value') ? String(el.value) : ''
    }
    if (role === 'textbox' || role === 'searchbox' || role === 'combobox') return el.isContentEditable ? squeeze(textOf(el, false, null)) : ''
    return el.getAttribute('aria-valuetext') || el.getAttribute('aria-valuenow') || ''
  }

  const quote = s => /^[^\s"<>=\]]+$/.test(s) ? s : '"' + s.replace(/["\\]/g, '\\$&') + '"'
  // safe keeps text from looking like the number of an element, also where what stands between ] and < is not seen or
  // is taken out later.
  const safe = s => s.includes(']') ? s.replace(/\](?=[\p{C}\p{M}\p{Default_Ignorable_Code_Point}\u2800]*<)/gu, '] ') : s
  const bound = (s, n) => short(safe(squeeze(s)), n)

  // statesOf lists what is true of a control, as " checked value=…".
  const statesOf = (el, role, from, focus) => {
    let s = ''
    const n = el.localName, a = k => el.getAttribute(k)
    if (el === focus) s += ' focused'
    const control = n === 'label' ? el.control : el
    if (role === 'checkbox' || role === 'radio' || role === 'switch' || role === 'menuitemcheckbox' || role === 'menuitemradio') {
      if (control && control.localName === 'input') s += control.indeterminate ? ' mixed' : control.checked ? ' checked' : ''
      else s += a('aria-checked') === 'true' ? ' checked' : a('aria-checked') === 'mixed' ? ' mixed' : ''
    } else if (a('aria-checked') === 'true') s += ' checked'
    const ex = a('aria-expanded')
    if (ex === 'true') s += ' expanded'
    else if (ex === 'false') s += ' collapsed'
    else if (role === 'summary') s += el.parentElement && el.parentElement.open ? ' expanded' : ' collapsed'
    if (a('aria-selected') === 'true' || (n === 'option' && el.selected)) s += ' selected'
    const pr = a('aria-pressed')
    if (pr === 'true') s += ' pressed'
    else if (pr === 'mixed') s += ' pressed=mixed'
    if (isOff(el)) s += ' disabled'
    if (el.required || a('aria-required') === 'true') s += ' required'
    if (el.readOnly || a('aria-readonly') === 'true') s += ' readonly'
    const inv = a('aria-invalid')
    if (inv && inv !== 'false') s += ' invalid'
    const cur = a('aria-current')
    if (cur && cur !== 'false') s += cur === 'true' ? ' current' : ' current=' + quote(bound(cur, 20))
    if (a('aria-busy') === 'true') s += ' busy'
    if (role === 'heading') s += ' level=' + (a('aria-level') || (HEADINGS.test(n) ? n[1] : '2'))
    if (n === 'input' && (el.type === 'password' || isSecret(el))) s += ' password'
    else if (n === 'input' && (el.type === 'email' || el.type === 'tel' || el.type === 'url')) s += ' ' + el.type
    if (n === 'input' || n === 'textarea') {
      const p = el.placeholder
      if (p) s += ' placeholder=' + quote(bound(p, 80))
    }
    if (el.isContentEditable || n === 'input' || n === 'textarea' || n === 'select' || VALUED.has(role)) {
      const v = valueOf(el, role)
      if (v) s += ' value=' + quote(bound(v, 200))
    }
    if (n === 'input' && (role === 'slider' || role === 'spinbutton')) {
      if (el.min) s += ' min=' + quote(bound(el.min, 20))
      if (el.max) s += ' max=' + quote(bound(el.max, 20))
    }
    if (n === 'select') {
      const os = el.options, names = []
      for (let i = 0; i < os.length && i < 12; i++) names.push(bound(os[i].label, 30))
      if (os.length > 12) names.push(`… ${os.length - 12} more`)
      if (os.length) s += ' options=' + quote(names.join(' | '))
    }
    return s
  }
  const VALUED = new Set(['slider', 'spinbutton', 'progressbar', 'meter', 'scrollbar', 'combobox'])
  const isOff = el => el.matches(':disabled') || !!el.closest('[aria-disabled=true]')

  // ---- reading ----

  const CAP = 4000          // lines that one reading produces; further ones are counted
  const BEYOND = 1000       // unless they are in view, focused or in a dialog
  const deepActive = doc => {
    let el = doc.activeElement
    for (let i = 0; el && i < 50; i++) {
      const r = rootOf(el)
      if (r && r.activeElement) { el = r.activeElement; continue }
      if (el.localName === 'iframe') {
        let d = null
        try { d = el.contentDocument } catch { /* another origin */ }
        if (d && d.activeElement) { el = d.activeElement; continue }
      }
      break
    }
    return el && el.localName !== 'body' && el.localName !== 'iframe' ? el : null
  }

  // read turns a subtree into lines. It is one pass over the flat tree; text gathers in buf until a block, a control
  // or a structure ends it.
  const read = (root, opt) => {
    const depths = [], refs = [], flags = [], texts = [], els = []
    const cap = opt.cap || CAP
    const focus = deepActive(document)
    let buf = '', bufEl = null, chars = 0, elements = 0, leftControls = 0, leftText = 0, deep = 0, dialog = 0, full = false
    const hosts = []
    let row = -1              // index of a row line that still takes the next text as its own

    // Past the cap only what matters most is still written down.
    let inView = null
    const room = (el, active) => {
      if (texts.length < cap) return true
      full = true
      if (texts.length >= cap + BEYOND) return false
      return dialog > 0 || (active && el === focus) || (inView = inView || views())(el)
    }
    const push = (depth, ref, flag, text, el) => {
      if (!room(el, flag & INTERACTIVE)) {
        if (flag & INTERACTIVE) leftControls++; else leftText++
        return -1
      }
      depths.push(depth); refs.push(ref); flags.push(dialog ? flag | DIALOG : flag); texts.push(text); els.push(el)
      chars += text.length + depth + 1
      row = -1
      return texts.length - 1
    }
    const flush = depth => {
      if (!buf) return
      const s = safe(squeeze(buf))
      const at = row
      buf = ''
      if (!s || s === '|') return
      const t = s.replace(/^(\| )+|( \|)+$/g, '')
      if (!t) return
      if (at >= 0) { texts[at] = `<row>${t}</row>`; chars += t.length; row = -1; return }
      push(depth, 0, TEXT, t, bufEl)
    }
    const drop = i => {       // takes back a container that held nothing
      depths.length = refs.length = flags.length = texts.length = els.length = i
    }
    // spoken holds the elements whose words stand in a name already.
    const spoken = new Set()
    const kidsOf = (node, depth, mute, pointer, seen) => {
      let kids = node.firstChild
      if (node.localName === 'details' && !node.open) {
        const s = node.querySelector(':scope>summary')
        if (s) visit(s, depth, mute, pointer, seen)
        return
      }
      const r = node.nodeType === 1 ? rootOf(node) : null
      if (r) kids = r.firstChild
      else if (node.localName === 'slot') {
        const a = node.assignedNodes()
        if (a.length) { for (const k of a) visit(k, depth, mute, pointer, seen); return }
      }
      for (; kids; kids = kids.nextSibling) visit(kids, depth, mute, pointer, seen)
    }

    // visit reads one node. mute keeps text out, because it already stands in a name; pointer says that an ancestor
    // already carries the pointing hand; seen is false below visibility:hidden.
    const visit = (node, depth, mute, pointer, seen) => {
      const type = node.nodeType
      if (type === 3) {
        if (mute || !seen) return
        if (!buf) bufEl = node.parentElement || (node.parentNode && node.parentNode.host)
        buf += node.data
        return
      }
      if (type !== 1) return
      const el = node, n = el.localName
      elements++
      if (SKIP.has(n)) return
      if (n === 'br') { buf += ' '; return }
      if (!el.checkVisibility()) {
        if (n !== 'slot' && (n === 'option' || n === 'optgroup' || styleOf(el).display !== 'contents')) return
      }
      const attrs = el.hasAttributes()
      if (attrs && (el.getAttribute('aria-hidden') === 'true' || el.hasAttribute('inert'))) return
      if (deep > 1500) return
      const cs = styleOf(el)
      const vis = cs.visibility === 'visible'
      const hand = cs.cursor === 'pointer'
      if (!INLINE.has(n) && cs.contentVisibility === 'hidden') return
      const role = roleOf(el)
      if (n === 'slot') { deep++; kidsOf(el, depth, mute, pointer, seen); deep--; return }
      if (!rootOf(el) && !asked.has(el)) suspect(el, n)

      if (!vis) { deep++; kidsOf(el, depth, mute, pointer, false); deep--; return }

      // Frames
      if (n === 'iframe' || n === 'frame') { frame(el, depth); return }

      if (n === 'legend' || n === 'caption') {
        if (spoken.has(el.parentElement)) mute = true
      }

      // Labels speak through their control
      if (n === 'label') {
        const c = el.control
        if (c && !c.checkVisibility() && c.localName === 'input' && c.type !== 'hidden') {
          flush(depth)
          const r = roleOf(c), ref = refOf(el)
          const name = bound(nameOf(c, r).name || textOf(el, false, null), 300)
          table.get(ref) && (table.get(ref).was = `${r} “${short(name, 60)}”`)
          push(depth, ref, INTERACTIVE, `<${r}${statesOf(el, r, '', focus)}>${name}</${r}>`, el)
          return
        }
        deep++; kidsOf(el, depth, mute || !!c, true, true); deep--
        return
      }

      let active = ACTIVE.has(role)
      let shape = role
      if (!active && !mute) {
        if ((hand && !pointer) || (attrs && (el.hasAttribute('onclick') || tabbed(el)))) {
          active = true
          if (!CONTAINERS.has(role) && role !== 'row' && role !== 'img' && role !== 'video' && role !== 'audio') shape = role && role !== 'cell' && role !== 'listitem' && role !== 'list' ? role : 'clickable'
        } else if (role === 'video' || role === 'audio') active = el.controls
      } else if (!active && attrs && (el.hasAttribute('onclick') || tabbed(el))) {
        active = true
        shape = role || 'clickable'
      }

      if (active) { control(el, n, role, shape, depth, mute, pointer || hand); return }
      if (mute) { deep++; kidsOf(el, depth, mute, pointer || hand, true); deep--; return }

      if (role === 'heading') {
        flush(depth)
        if (el.firstElementChild && el.querySelector(INNER)) { hold(el, role, depth, HEADING, pointer || hand, ''); return }
        const name = bound(nameOf(el, role).name, 300)
        if (name) push(depth, 0, HEADING, `<heading${statesOf(el, role, '', focus)}>${name}</heading>`, el)
        return
      }
      if (role === 'img' || n === 'canvas') {
        const name = bound(nameOf(el, 'img').name, 200)
        if (name) { flush(depth); push(depth, 0, TEXT, `<img>${name}</img>`, el) }
        return
      }
      if (role === 'progressbar' || role === 'meter') {
        flush(depth)
        const name = bound(nameOf(el, role).name, 200)
        push(depth, 0, TEXT, `<${role}${statesOf(el, role, '', focus)}>${name ? name + `</${role}>` : ''}`, el)
        return
      }
      if (role === 'row') {
        flush(depth)
        const i = push(depth, 0, TEXT | ROW, '<row>', el)
        row = i
        deep++; kidsOf(el, depth + 1, false, pointer || hand, true); deep--
        flush(depth + 1)
        if (i >= 0 && i === texts.length - 1 && texts[i] === '<row>') drop(i)
        row = -1
        return
      }
      if (role === 'cell' || role === 'gridcell' || role === 'columnheader' || role === 'rowheader') {
        if (buf.trim()) buf += ' | '
        deep++; kidsOf(el, depth, false, pointer || hand, true); deep--
        return
      }
      if (CONTAINERS.has(role)) {
        flush(depth)
        const { name, from } = nameOf(el, role)
        if (from === 'child') spoken.add(el)
        hold(el, role, depth, 0, pointer || hand, bound(name, 200))
        return
      }
      const display = cs.display, block = display !== 'inline' || !INLINE.has(n), within = display.startsWith('inline') || display === 'contents'
      if (block) { if (within) buf += ' '; else flush(depth) }
      deep++
      kidsOf(el, depth, false, pointer || hand, true)
      deep--
      if (block) { if (within) buf += ' '; else flush(depth) }
    }

    // hold writes the line of a structure and its children below it; one that held nothing leaves no line.
    const hold = (el, role, depth, flag, pointer, name) => {
      const modal = role === 'dialog' || role === 'alertdialog'
      if (modal) dialog++
      const at = push(depth, 0, flag, `<${role}${statesOf(el, role, '', focus)}>${name ? name + `</${role}>` : ''}`, el)
      deep++; kidsOf(el, depth + 1, false, pointer, true); deep--
      flush(depth + 1)
      if (at >= 0 && at === texts.length - 1 && !name) drop(at)
      if (modal) dialog--
    }

    const control = (el, n, role, shape, depth, mute, pointer) => {
      flush(depth)
      if (!room(el, true)) { leftControls++; return }
      const flag = INTERACTIVE | (el === focus ? FOCUSED : 0)
      const ref = refOf(el)
      const holds = el.firstElementChild || rootOf(el) ? contains(el) : false
      const field = n === 'input' || n === 'select' || n === 'textarea' || (el.isContentEditable && role === 'textbox')
      let { name, from } = nameOf(el, shape)
      const container = !field && (CONTAINERS.has(shape) || shape === 'row' ||
        (holds && from === 'content' && (shape === 'clickable' || shape === 'treeitem')) || (shape === 'clickable' && name.length > 300))
      if (container && from === 'content') name = ''
      if (from === 'placeholder') name = ''
      name = bound(name, 300)
      const s = statesOf(el, role, from, focus)
      const at = push(depth, ref, flag, `<${shape}${s}>${name ? `${name}</${shape}>` : ''}`, el)
      const e = table.get(ref)
      if (e) e.was = shape + (name ? ` “${short(name, 60)}”` : '')
      if (field) return
      if (container) {
        const modal = role === 'dialog' || role === 'alertdialog'
        if (modal) { dialog++; if (at >= 0) flags[at] |= DIALOG }
        deep++; kidsOf(el, depth + 1, false, true, true); deep--
        flush(depth + 1)
        if (modal) dialog--
      } else if (holds) {
        deep++; kidsOf(el, depth + 1, from === 'content' || CONTENT.has(shape), true, true); deep--
        flush(depth + 1)
      }
    }
    const contains = el => {
      if (rootOf(el)) return true
      if (el.querySelector(INNER)) return true
      for (const k of el.children) if (rootOf(k) || k.localName.includes('-')) return true
      return false
    }

    const frame = (el, depth) => {
      flush(depth)
      if (el.offsetWidth < 3 || el.offsetHeight < 3) return
      let d = null
      try { d = el.contentDocument } catch { /* another origin */ }
      const name = bound(nameOf(el, 'iframe').name, 100)
      const line = `<iframe>${name ? name + '</iframe>' : ''}`
      if (!d) { push(depth, refOf(el), FRAME, line, el); return }
      const at = push(depth, refOf(el), 0, line, el)
      watch(d)
      deep++
      if (d.documentElement) visit(d.documentElement, depth + 1, false, false, true)
      deep--
      flush(depth + 1)
      if (at >= 0 && at === texts.length - 1 && !name) drop(at)
    }

    // suspect notes elements that may hide a closed shadow root, for the host to look into.
    const suspect = (el, n) => {
      if (hosts.length >= 200) return
      if (n.includes('-') || (HOSTS.has(n) && !el.firstElementChild && !hasText(el) && el.offsetWidth > 2 && el.offsetHeight > 2)) hosts.push(el)
    }

    if (root.nodeType === 9) { if (root.documentElement) visit(root.documentElement, 0, false, false, true) }
    else visit(root, 0, false, false, true)
    flush(0)
    return { depths, refs, flags, texts, els, elements, chars, leftControls, leftText, full, hosts }
  }
  const HOSTS = new Set(['div', 'span', 'section', 'article', 'aside', 'main', 'nav', 'header', 'footer', 'p', 'blockquote'])
  const hasText = el => { for (let k = el.firstChild; k; k = k.nextSibling) if (k.nodeType === 3 && k.data.trim()) return true; return false }
  const tabbed = el => { const t = el.getAttribute('tabindex'); return t !== null && +t >= 0 && el.localName !== 'body' }

  // inView says whether any of el shows in the viewport of its world; offsets of inner frames are cached.
  const views = docs => {
    const at = new Map()
    const offset = d => {
      if (d === document) return [0, 0]
      let o = at.get(d)
      if (!o) {
        const fe = d.defaultView && d.defaultView.frameElement
        if (!fe) return [0, 0]
        const up = offset(fe.ownerDocument), r = fe.getBoundingClientRect()
        o = [up[0] + r.x + fe.clientLeft, up[1] + r.y + fe.clientTop]
        at.set(d, o)
      }
      return o
    }
    const W = innerWidth, H = innerHeight
    return el => {
      const r = el.getBoundingClientRect(), o = offset(el.ownerDocument)
      return r.bottom + o[1] > 0 && r.top + o[1] < H && r.right + o[0] > 0 && r.left + o[0] < W
    }
  }

  const pack = (r, keep, budget) => {
    if (r.chars > budget || r.full) {
      const inView = views()
      for (let i = 0; i < r.els.length; i++) if (r.els[i] && inView(r.els[i])) r.flags[i] |= INVIEW
    }
    if (keep) last = r.els.map(e => e && new WeakRef(e))
    const meta = []
    for (let i = 0; i < r.texts.length; i++) meta.push(r.depths[i], r.refs[i], r.flags[i])
    const d = document.scrollingElement || document.documentElement
    return {
      text: r.texts.join('\n'), meta: meta.join(','), elements: r.elements, leftControls: r.leftControls, leftText: r.leftText,
      hosts: r.hosts.length, ready: document.readyState, title: document.title.slice(0, 300),
      page: d ? [Math.round(scrollX), Math.round(scrollY), innerWidth, innerHeight, d.scrollWidth, d.scrollHeight] : [0, 0, innerWidth, innerHeight, 0, 0],
    }
  }

  let suspects = []
  // snapshot reads the page; with settle it waits for it to rest first, in the same round trip.
  const snapshot = a => a.settle ? settle(a.settle).then(settled => ({ ...shot(a), settled })) : shot(a)
  const shot = a => {
    watch(document)
    let root = document
    if (a.root) {
      const l = look(a.root)
      if (l.no) return { no: l.no }
      root = l.el
      if (root.localName === 'iframe') { try { root = root.contentDocument || root } catch { /* another origin */ } }
    }
    const r = read(root, a)
    suspects = r.hosts
    return pack(r, a.keep, a.budget || 16000)
  }

  // ---- closed shadow roots ----

  const hostsToAsk = () => { const s = suspects; suspects = []; for (const h of s) asked.add(h); return s }
  const adopt = (host, root) => { closed.set(host, root); anyClosed = true; watch(root) }

  // ---- watching ----

  // What moves by script shows in its style or class; a field that changes its type away from password stays secret.
  const watched = new WeakSet()
  const onAttrs = list => {
    const now = performance.now()
    for (const m of list) {
      if (m.attributeName === 'type') { if (m.oldValue === 'password') secret.add(m.target) } else moved.set(m.target, now)
    }
  }
  const watch = doc => {
    if (watched.has(doc)) return
    watched.add(doc)
    new MutationObserver(onAttrs).observe(doc, { subtree: true, attributes: true, attributeOldValue: true, attributeFilter: ['type', 'style', 'class'] })
    for (const e of doc.querySelectorAll('input[type=password]')) secret.add(e)
  }

  // Changes are followed from the first time that somebody asks for rest, so that later a page at rest says so at once.
  let following = 0, changed = 0 // since when, and when something changed last
  const follow = () => {
    if (following) return
    following = performance.now()
    new MutationObserver(() => { changed = performance.now() }).observe(document, { subtree: true, childList: true, attributes: true, characterData: true,
      attributeFilter: ['class', 'hidden', 'disabled', 'open', 'aria-expanded', 'aria-hidden', 'aria-busy', 'value', 'checked', 'src', 'href'] })
  }

  // settle waits until the document is loaded, holds something, and does not change: for half of quiet milliseconds
  // where nothing changed at all, as most handlers are done before they return, and for quiet since the last change.
  // After an action both count from now, since what it sets off may still be to come.
  const settle = ({ quiet, max, acted }) => new Promise(done => {
    const start = performance.now()
    follow()
    const since = acted ? start : following
    const end = ok => { removeEventListener('load', tick); done(ok) }
    const tick = () => {
      const now = performance.now(), over = now - start >= max
      const rest = changed >= since ? changed + quiet - now : since + quiet / 2 - now
      const loaded = document.readyState === 'complete'
      const calm = loaded && rest <= 0
      if (calm && !busy() && (now - start > HOLLOW || !hollow())) end(true)
      else if (over) end(calm)
      else setTimeout(tick, Math.max(4, Math.min(calm || !loaded ? 50 : rest, start + max - now)))
    }
    addEventListener('load', tick, { once: true })
    tick()
  })
  const HOLLOW = 1500 // how long to wait for a document to draw itself, in ms
  const busy = () => { const b = document.querySelector('[aria-busy=true]'); return !!b && b.checkVisibility() }
  // A document of scripts and boxes without height is one that has yet to draw itself.
  const hollow = () => {
    const b = document.body
    return !!b && !!document.scripts.length && !hasText(b) && !draws(b)
  }
  const draws = b => {
    for (const e of b.getElementsByTagName('*')) if (e.offsetHeight > 0 || hasBox(e)) return true
    return false
  }
  const hasBox = e => !SKIP.has(e.localName) && e.offsetHeight === undefined && e.getBoundingClientRect().height > 0 // as of SVG

  // change resolves at the next change of the document, or after ms.
  const change = ms => new Promise(done => {
    const mo = new MutationObserver(() => end())
    const end = () => { mo.disconnect(); clearTimeout(t); setTimeout(done, 16, true) }
    const t = setTimeout(end, ms)
    mo.observe(document, { subtree: true, childList: true, attributes: true, characterData: true })
  })

  // ---- finding ----

  const refsFor = lines => lines.map(i => {
    const el = last[i] && last[i].deref()
    if (!el) return 0
    const ref = refOf(el), e = table.get(ref)
    if (e && !e.was) e.was = (roleOf(el) || el.localName) + ` “${short(squeeze(textOf(el, false, null)), 60)}”`
    return ref
  })

  // all yields the elements of a root, through shadow roots and frames of the same origin.
  function * all (root) {
    const stack = [root]
    while (stack.length) {
      const r = stack.pop()
      yield r
      const w = (r.ownerDocument || r).createTreeWalker(r, 1)
      for (let el = w.nextNode(); el; el = w.nextNode()) {
        const s = rootOf(el)
        if (s) stack.push(s)
        if (el.localName === 'iframe') {
          let d = null
          try { d = el.contentDocument } catch { /* another origin */ }
          if (d) stack.push(d)
        }
      }
    }
  }
  const unique = (els, what) => {
    let list = els
    if (list.length > 1) { const v = list.filter(e => shown(e) && styleOf(e).visibility === 'visible'); if (v.length) list = v }
    if (list.length === 1) return { id: refOf(list[0]), crossing: crossing(list[0]) }
    if (!list.length) return { none: true }
    return { no: `${what} means ${list.length} elements: ${list.slice(0, 8).map(label).join(', ')}${list.length > 8 ? ', …' : ''}`, many: true }
  }
  const crossing = el => {
    if (el.localName !== 'iframe' && el.localName !== 'frame') return false
    try { return !el.contentDocument } catch { return true }
  }

  // select resolves a chain of CSS selectors as far as this world reaches; rest says which remain for a frame's own world.
  const select = ({ chain, from }) => {
    let roots = [document]
    if (from) { const l = look(from); if (l.no) return l; roots = [l.el] }
    for (let i = 0; i < chain.length; i++) {
      const found = new Set()
      for (const r of roots) {
        let scope = r
        if (r.nodeType === 1 && (r.localName === 'iframe' || r.localName === 'frame')) {
          try { scope = r.contentDocument } catch { scope = null }
          if (!scope) return roots.length === 1 ? { id: refOf(r), crossing: true, rest: chain.slice(i) } : { no: 'more than one frame matches' }
        }
        const scopes = [scope]
        const own = scope.nodeType === 1 && rootOf(scope)
        if (own) scopes.push(own)
        for (let k = 0; k < scopes.length; k++) {
          let hits
          try { hits = scopes[k].querySelectorAll(chain[i]) } catch { return { no: `“${chain[i]}” is not a CSS selector` } }
          for (const h of hits) found.add(h)
          for (const e of scopes[k].querySelectorAll('*')) { const s = rootOf(e); if (s) scopes.push(s) }
        }
      }
      roots = [...found]
      if (!roots.length) return { none: true }
    }
    const u = unique(roots, `“${chain.join(' >> ')}”`)
    if (u.crossing) u.rest = []
    return u
  }

  const FIELDS = 'a[href],area[href],button,input,select,textarea,summary,label,[role],[tabindex],[onclick],[contenteditable],[id]'
  // named finds what a person would call name: its label, accessible name, placeholder or id.
  const byName = ({ name, want }) => {
    const key = squeeze(name).toLowerCase()
    const exact = [], part = []
    for (const root of all(document)) {
      for (const el of root.querySelectorAll(FIELDS)) {
        const role = roleOf(el)
        if (!fits(el, role, want)) continue
        const id = el.id && el.id.toLowerCase() === key
        if (!id && !(ACTIVE.has(role) || tabbed(el) || el.hasAttribute('onclick'))) continue
        const n = nameOf(el, role).name.toLowerCase()
        const p = (el.getAttribute('placeholder') || '').trim().toLowerCase()
        const hit = id || n === key || p === key
        if (!hit && !(n && n.includes(key))) continue
        if (!shown(el) || styleOf(el).visibility !== 'visible' || el.closest('[aria-hidden=true],[inert]')) continue
        (hit ? exact : part).push(el)
      }
    }
    if (!exact.length && !want) { // things that only look like controls
      for (const root of all(document)) {
        for (const el of root.querySelectorAll('*')) {
          if (el.childElementCount > 3 || ACTIVE.has(roleOf(el))) continue
          const t = el.textContent
          if (t.length > key.length + 40 || squeeze(t).toLowerCase() !== key) continue
          if (shown(el) && styleOf(el).cursor === 'pointer' && !(el.parentElement && squeeze(el.parentElement.textContent).toLowerCase() === key && styleOf(el.parentElement).cursor === 'pointer') &&
            !el.closest('a[href],button,label,[role=button],[role=link]')) exact.push(el)
        }
      }
    }
    const found = exact.length ? exact : part
    const out = unique(found, `“${name}”`)
    out.exact = exact.length > 0
    out.labels = found.slice(0, 8).map(label)
    out.count = found.length
    return out
  }
  const fits = (el, role, want) => {
    if (want === 'edit') return EDITS.has(role) || el.isContentEditable
    if (want === 'select') return el.localName === 'select' || role === 'listbox' || role === 'combobox'
    return true
  }

  // ---- aiming ----

  const frames = (n = 1) => new Promise(done => {
    const step = () => (n-- > 0 ? requestAnimationFrame(step) : done())
    setTimeout(done, 60 * (n + 1))
    step()
  })
  const rectKey = el => { const r = el.getBoundingClientRect(); return `${r.x},${r.y},${r.width},${r.height}` }
  const mayMove = el => {
    const now = performance.now()
    for (let n = el; n; n = upOf(n)) { const t = moved.get(n); if (t !== undefined && now - t < 150) return true }
    for (const a of el.ownerDocument.getAnimations()) {
      const t = a.effect && a.effect.target
      if (a.playState === 'running' && t && holdsNode(t, el)) return true
    }
    return false
  }
  const holdsNode = (outer, inner) => { for (let n = inner; n; n = upOf(n)) if (n === outer) return true; return false }
  const still = async el => {
    const end = performance.now() + 1500
    let k = rectKey(el), same = 0
    while (performance.now() < end) {
      await frames(1)
      const now = rectKey(el)
      same = now === k ? same + 1 : 0
      k = now
      if (same >= 2) return true
    }
    return false
  }
  // chain lists the frame elements from this world's document down to doc.
  const chainTo = doc => {
    const out = []
    for (let d = doc; d !== document;) {
      const fe = d.defaultView && d.defaultView.frameElement
      if (!fe) return null
      out.unshift(fe)
      d = fe.ownerDocument
    }
    return out
  }
  const inner = fe => { // where a frame's viewport lies in its parent, and its scale
    const r = fe.getBoundingClientRect(), s = fe.offsetWidth ? r.width / fe.offsetWidth : 1
    const cs = styleOf(fe)
    return { x: r.x + (fe.clientLeft + parseFloat(cs.paddingLeft)) * s, y: r.y + (fe.clientTop + parseFloat(cs.paddingTop)) * s, s }
  }
  const toWorld = (chain, x, y) => {
    for (let i = chain.length - 1; i >= 0; i--) { const f = inner(chain[i]); x = f.x + x * f.s; y = f.y + y * f.s }
    return [x, y]
  }
  const deepHit = (doc, x, y) => {
    let h = doc.elementFromPoint(x, y)
    for (let i = 0; h && i < 50; i++) {
      const r = rootOf(h), n = r && r.elementFromPoint(x, y)
      if (!n || n === h) break
      h = n
    }
    return h
  }
  // hit says whether a press at (x, y) of this world reaches el, or what it reaches instead.
  const hit = (el, chain, x, y) => {
    let doc = document
    for (const fe of chain) {
      const h = deepHit(doc, x, y)
      if (h !== fe) return h || doc.documentElement
      const f = inner(fe)
      x = (x - f.x) / f.s; y = (y - f.y) / f.s
      doc = fe.contentDocument
    }
    const h = deepHit(doc, x, y)
    if (!h) return null
    if (holdsNode(el, h)) return el
    const l = h.closest && h.closest('label')
    if (l && l.control === el) return el
    return h
  }
  const visibleRects = el => {
    const v = el.ownerDocument.defaultView, W = v.innerWidth, H = v.innerHeight, out = []
    const target = styleOf(el).display === 'contents' && el.firstElementChild ? el.firstElementChild : el
    for (const r of target.getClientRects()) {
      const x0 = Math.max(r.left, 0), y0 = Math.max(r.top, 0), x1 = Math.min(r.right, W), y1 = Math.min(r.bottom, H)
      if (x1 - x0 > 0.5 && y1 - y0 > 0.5) out.push([x0, y0, x1, y1])
    }
    return out.sort((a, b) => (b[2] - b[0]) * (b[3] - b[1]) - (a[2] - a[0]) * (a[3] - a[1]))
  }
  const GRID = [0.5, 0.25, 0.75, 0.1, 0.9]
  const point = (el, chain) => {
    let over = null
    for (const [x0, y0, x1, y1] of visibleRects(el).slice(0, 4)) {
      for (const fy of GRID) {
        for (const fx of GRID) {
          const [x, y] = toWorld(chain, x0 + (x1 - x0) * fx, y0 + (y1 - y0) * fy)
          if (x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) continue
          const h = hit(el, chain, x, y)
          if (h === el) return { x, y }
          if (!over && h) over = h
        }
      }
    }
    return { over }
  }
  const tag = el => '<' + el.localName + (el.id ? '#' + el.id : el.classList && el.classList.length ? '.' + el.classList[0] : '') + '>'
  // cover names the outermost element that is over el without holding it.
  const cover = (over, el) => {
    const mine = new Set()
    for (let n = el; n; n = upOf(n)) mine.add(n)
    let top = over
    for (let n = over; n && !mine.has(n); n = upOf(n)) if (n.nodeType === 1) top = n
    return tag(top)
  }

  // aim brings el into view and finds a point where a press reaches it.
  const aim = async a => {
    const l = look(a.id)
    if (l.no) return l
    let el = l.el
    sign.yield()
    if (a.edit) { const e = field(el); if (e.no) return { no: `${label(el)} ${e.no}`, list: e.list }; el = e.el }
    const what = whatIs(el)
    const no = why => ({ no: `[${a.id}] ${what} ${why}` })
    if (!a.hover && isOff(el)) return no('is disabled')
    if (!shown(el)) return no('is not shown')
    const chain = chainTo(el.ownerDocument)
    if (!chain) return no('is in a frame that is gone')
    if (mayMove(el) && !await still(el)) return no('does not stop moving')
    let p = point(el, chain)
    const scrolled = p.x === undefined
    if (scrolled) {
      for (const block of ['center', 'start', 'end']) {
        el.scrollIntoView({ block, inline: 'center', behavior: 'instant' })
        p = point(el, chain)
        if (p.x !== undefined) break
      }
    }
    if (p.x === undefined) {
      const r = el.getBoundingClientRect()
      if (!r.width && !r.height) return no('has no size')
      if (styleOf(el).pointerEvents === 'none') return no('lets presses through (pointer-events: none)')
      if (!p.over) return no('cannot be brought into view')
      return no(`is covered by ${cover(p.over, el)}`)
    }
    reach = false
    el.ownerDocument.defaultView.addEventListener('mousemove', onReach, { capture: true, once: true })
    const out = { x: p.x, y: p.y, what, scrolled }
    if (a.edit) Object.assign(out, begin(el, a.edit))
    if (out.no) out.no = `[${a.id}] ${what} ${out.no}`
    return out
  }

  // Whether the mouse has moved in this frame since the last aim.
  let reach = false
  const onReach = () => { reach = true }
  const reached = () => reach

  // through says where a point of a frame of another origin lies in this world, and whether a press there reaches the frame.
  const through = ({ id, x, y }) => {
    const l = look(id)
    if (l.no) return l
    const fe = l.el, chain = chainTo(fe.ownerDocument)
    if (!chain) return { no: `[${id}] frame is gone` }
    const at = () => { const f = inner(fe); return toWorld(chain, f.x + x * f.s, f.y + y * f.s) }
    let [X, Y] = at(), scrolled = false
    if (X < 0 || Y < 0 || X >= innerWidth || Y >= innerHeight || hit(fe, chain, X, Y) !== fe) {
      scrolled = true
      fe.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
      [X, Y] = at()
      if (X < 0 || Y < 0 || X >= innerWidth || Y >= innerHeight) {
        scrollBy({ left: X < 0 || X >= innerWidth ? X - innerWidth / 2 : 0, top: Y < 0 || Y >= innerHeight ? Y - innerHeight / 2 : 0, behavior: 'instant' });
        [X, Y] = at()
      }
    }
    const h = hit(fe, chain, X, Y)
    if (h !== fe) return { no: h ? `its frame is covered by ${cover(h, fe)}` : 'its frame cannot be brought into view' }
    return { x: X, y: Y, scrolled }
  }

  // ---- typing ----

  const SETTERS = new Set(['date', 'time', 'month', 'week', 'datetime-local', 'color', 'range', 'number'])
  // field gives the element that takes text for el.
  const field = el => {
    if (el.localName === 'label' && el.control) el = el.control
    if (el.localName === 'select') return { no: 'is a list; use select_option', list: true }
    if (el.localName === 'input') {
      if (['checkbox', 'radio', 'button', 'submit', 'reset', 'image'].includes(el.type)) return { no: 'takes no text; click it' }
      if (el.type === 'file') return { no: 'takes files, not text' }
    } else if (el.localName !== 'textarea' && !el.isContentEditable) {
      const r = rootOf(el)
      const q = 'input:not([type=hidden],[type=checkbox],[type=radio],[type=button],[type=submit]),textarea,[contenteditable=""],[contenteditable=true]'
      const inside = [...el.querySelectorAll(q), ...(r ? r.querySelectorAll(q) : [])].filter(shown)
      if (inside.length !== 1) return { no: 'takes no text' }
      el = inside[0]
    }
    if (el.readOnly) return { no: 'is read-only' }
    return { el }
  }
  const fire = (el, type) => el.dispatchEvent(type === 'input' ? new InputEvent('input', { bubbles: true, composed: true }) : new Event(type, { bubbles: true }))
  // begin makes el ready for text: set answers at once for kinds that have a value of their own form; insert says that
  // everything in it is selected and the text is to be typed.
  const begin = (el, { text }) => {
    el.focus({ preventScroll: true })
    if (el.localName === 'input' && SETTERS.has(el.type)) {
      const old = el.value
      el.value = text
      if (el.value !== text && !(el.type === 'range' && text !== '') && el.value.toLowerCase() !== text.trim().toLowerCase() && !(el.type === 'number' && el.value !== '' && +el.value === +text)) {
        el.value = old
        const form = { date: 'YYYY-MM-DD', time: 'HH:MM', month: 'YYYY-MM', week: 'YYYY-Www', 'datetime-local': 'YYYY-MM-DDTHH:MM', color: '#rrggbb', number: 'a number', range: 'a number' }[el.type]
        return { no: `does not take that; it takes ${form}` }
      }
      fire(el, 'input'); fire(el, 'change')
      return { set: true }
    }
    if (el.isContentEditable) {
      const s = el.ownerDocument.defaultView.getSelection(), r = el.ownerDocument.createRange()
      r.selectNodeContents(el)
      s.removeAllRanges(); s.addRange(r)
    } else {
      if (el.type === 'password') secret.add(el)
      el.select()
    }
    const root = el.getRootNode()
    if (root.activeElement !== el && el.ownerDocument.activeElement !== el && !holdsNode(el, deepActive(el.ownerDocument))) return { no: 'does not take the focus' }
    typing = new WeakRef(el)
    return { insert: true, empty: (el.value === undefined ? el.textContent : el.value) === '' }
  }
  let typing = null
  // typed compares what the field holds now with what was typed; the value itself stays here.
  const typed = ({ text }) => {
    const el = typing && typing.deref()
    typing = null
    if (!el || !el.isConnected) return { gone: true }
    const v = el.value === undefined ? el.innerText : el.value
    const same = v === text || squeeze(v) === squeeze(text)
    return { same, empty: v.trim() === '', max: el.maxLength > 0 ? el.maxLength : 0 }
  }

  const choose = async ({ id, text }) => {
    const l = look(id)
    if (l.no) return l
    let el = l.el
    if (el.localName === 'label' && el.control) el = el.control
    const what = whatIs(el), no = why => ({ no: `[${id}] ${what} ${why}` })
    if (isOff(el)) return no('is disabled')
    const key = squeeze(text).toLowerCase()
    const pick = (list, name) => list.find(o => name(o) === text) || list.find(o => squeeze(name(o)).toLowerCase() === key)
    const names = list => list.slice(0, 30).map(s => `“${short(squeeze(s), 60)}”`).join(', ') + (list.length > 30 ? `, … (${list.length} in all)` : '')
    if (el.localName === 'select') {
      if (!shown(el)) return no('is not shown')
      const os = [...el.options]
      const o = pick(os, o => o.label) || pick(os, o => o.value)
      if (!o) return no(`has no option “${short(squeeze(text), 60)}”; it has ${names(os.map(o => o.label)) || 'none'}`)
      if (o.disabled || (o.parentElement.localName === 'optgroup' && o.parentElement.disabled)) return no(`has the option “${short(squeeze(o.label), 60)}”, but it is disabled`)
      el.scrollIntoView({ block: 'nearest', behavior: 'instant' })
      el.focus({ preventScroll: true })
      const had = el.selectedOptions.length === 1 && o.selected
      if (!had) {
        for (const other of os) if (other !== o && other.selected && el.multiple) other.selected = false
        o.selected = true
        fire(el, 'input'); fire(el, 'change')
      }
      return { what, done: squeeze(o.label) }
    }
    // A list made of roles: its options, wherever it keeps them, are pressed like anything else.
    const root = el.getRootNode(), homes = [el]
    for (const k of ['aria-controls', 'aria-owns']) for (const i of (el.getAttribute(k) || '').split(/\s+/)) { const h = i && root.getElementById && root.getElementById(i); if (h) homes.push(h) }
    const opts = homes.flatMap(h => [...h.querySelectorAll('[role=option],[role=menuitemradio],[role=treeitem]')]).filter(shown)
    const o = pick(opts, o => nameOf(o, 'option').name)
    if (o) return { what, press: refOf(o) }
    if (opts.length) return no(`has no option “${short(squeeze(text), 60)}”; it has ${names(opts.map(o => nameOf(o, 'option').name))}`)
    return no('shows no options; click it first, then click the option')
  }

  // ---- scrolling ----

  const canScroll = (el, axis) => {
    const cs = styleOf(el), o = axis === 'y' ? cs.overflowY : cs.overflowX
    const room = axis === 'y' ? el.scrollHeight - el.clientHeight : el.scrollWidth - el.clientWidth
    return room > 1 && (o === 'auto' || o === 'scroll' || o === 'overlay')
  }
  const scroller = (id, axis) => {
    const page = document.scrollingElement || document.documentElement
    if (id) {
      const l = look(id)
      if (l.no) return l
      for (let n = l.el; n; n = upOf(n)) {
        if (n.nodeType === 9) return { el: n.scrollingElement || n.documentElement }
        if (n.nodeType === 1 && n !== n.ownerDocument.scrollingElement && canScroll(n, axis)) return { el: n }
      }
      return { el: l.el.ownerDocument.scrollingElement }
    }
    const room = axis === 'y' ? page.scrollHeight - innerHeight : page.scrollWidth - innerWidth
    if (room > 1) return { el: page }
    let best = null, size = 0
    for (let n = document.elementFromPoint(innerWidth / 2, innerHeight / 2); n; n = upOf(n)) {
      if (n.nodeType === 1 && canScroll(n, axis)) return { el: n }
    }
    for (const el of document.querySelectorAll('div,main,section,article,ul,ol,aside,nav,table,pre,textarea')) {
      if (!canScroll(el, axis) || !el.checkVisibility()) continue
      const a = el.clientWidth * el.clientHeight
      if (a > size) { best = el; size = a }
    }
    return { el: best || page }
  }
  const scroll = ({ id, axis, pages, pixels }) => {
    const s = scroller(id, axis)
    if (s.no) return s
    const el = s.el, top = axis === 'y', page = el === el.ownerDocument.scrollingElement
    const view = page ? (top ? el.ownerDocument.defaultView.innerHeight : el.ownerDocument.defaultView.innerWidth) : top ? el.clientHeight : el.clientWidth
    const by = pixels !== undefined && pixels !== null ? pixels : Math.round(pages * view)
    const before = top ? el.scrollTop : el.scrollLeft
    el.scrollBy({ [top ? 'top' : 'left']: by, behavior: 'instant' })
    const after = top ? el.scrollTop : el.scrollLeft
    const size = top ? el.scrollHeight : el.scrollWidth
    return { moved: Math.round(after - before), left: Math.max(0, Math.round(by >= 0 ? size - view - after : after)), what: page ? 'the page' : tag(el) }
  }

  // ---- screenshots ----

  // secrets gives the rectangles of password fields that show their text.
  const secrets = () => {
    const out = []
    for (const root of all(document)) {
      for (const el of root.querySelectorAll('input')) {
        if (!isSecret(el) || el.type === 'password' || !el.value || !shown(el)) continue
        const chain = chainTo(el.ownerDocument)
        if (!chain) continue
        const r = el.getBoundingClientRect()
        const [x0, y0] = toWorld(chain, r.left, r.top), [x1, y1] = toWorld(chain, r.right, r.bottom)
        out.push([x0, y0, x1, y1])
      }
    }
    return out
  }
  const crossFrames = () => {
    const out = []
    for (const root of all(document)) for (const el of root.querySelectorAll('iframe,frame')) if (crossing(el) && el.offsetWidth > 2 && el.offsetHeight > 2 && shown(el)) out.push(refOf(el))
    return out
  }
  const place = id => { // where a frame of another origin lies in this world
    const l = look(id)
    if (l.no) return l
    const chain = chainTo(l.el.ownerDocument)
    if (!chain) return { no: 'gone' }
    const f = inner(l.el), [x, y] = toWorld(chain, f.x, f.y), [x1] = toWorld(chain, f.x + 100 * f.s, f.y)
    return { x, y, s: (x1 - x) / 100 }
  }

  const has = ({ text }) => {
    const key = squeeze(text).toLowerCase()
    return read(document, { cap: 50000 }).texts.some(t => t.toLowerCase().includes(key))
  }

  // What sign.js fills in where there is a sign.
  const sign = { yield: () => {}, set: () => {}, hide: () => {} }
  const signHidden = on => {
    sign.hide(on)
    return on ? frames(1) : undefined // the picture is of what was painted
  }
  globalThis.__chaperone = {
    sign, isSecret,
    run: (op, a, numbers) => {
      if (numbers) range = numbers
      const before = range[0]
      const done = v => ({ v: v === undefined ? null : v, n: range[0], m: range[1], t: range[0] !== before })
      const v = ops[op](a)
      return v instanceof Promise ? v.then(done) : done(v)
    },
    hostsToAsk, adopt,
    element: id => look(id).el,
  }
  const viewport = () => { sign.yield(); return [innerWidth, innerHeight] }
  const ops = { viewport, reached, frame: () => frames(1), snapshot, settle, change, refsFor, select, byName, aim, through, typed, choose, scroll, secrets, crossFrames, place, has, signHidden, sign: w => sign.set(w) }

  addEventListener('focusin', e => {
    const el = e.composedPath()[0]
    if (el && el.localName === 'input' && el.type === 'password') secret.add(el)
  }, true)
  let above = null
  try { above = parent !== globalThis && parent.document } catch { /* another origin */ }
  if (!above) watch(document) // frames of the same origin are watched from above
})()
